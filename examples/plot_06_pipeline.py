"""
Selection belongs inside cross-validation
=========================================

Pure noise, 100 samples and 5 000 features: no model can predict the labels. If features are
selected on all samples first and the model is cross-validated afterwards, it seems to predict
well, because the labels of the test samples were used for the selection. In a pipeline the
selection is made anew in every fold.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import nullforest as nf

rng = np.random.default_rng(0)
X, y = rng.normal(size=(100, 5_000)), np.arange(100) % 2

# %%
# Outside: the best 20 features of all samples. The accuracy is biased upwards.

selector = nf.ForestSelector(min_features=20).fit(X, y)
outside = cross_val_score(LogisticRegression(), selector.transform(X), y, cv=5)
significant = selector.selection_.n_selected
print(f"selected outside: accuracy {outside.mean():.2f}; significant features: {significant}")

# %%
# Inside: no better than guessing, as it should be.

model = make_pipeline(nf.ForestSelector(min_features=20), LogisticRegression())
inside = cross_val_score(model, X, y, cv=5)
print(f"selected inside: accuracy {inside.mean():.2f}")

axes = plt.subplots(figsize=(5, 3), layout="constrained")[1]
axes.boxplot([outside, inside], tick_labels=["selected outside", "selected inside"])
axes.axhline(0.5, linestyle="--", color="grey")
axes.set_ylabel("accuracy on noise, five folds")
plt.show()
