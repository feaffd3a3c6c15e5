"""
Survival: genes and metastasis-free time
========================================

198 women with breast cancer (GSE7390, with scikit-survival): 76 genes, and the time until
metastases were found or the last visit. Times that end without the event are *censored*. The
forest predicts the log-rank scores of the patients, and each gene is tested as usual.
"""

# %%

import matplotlib.pyplot as plt
from sksurv.datasets import load_breast_cancer

import nullforest as nf

X, y = load_breast_cancer()
genes = X.loc[:, X.columns.str.startswith("X2")]
print(y.dtype.names, f"{y[y.dtype.names[0]].sum()} events among {len(y)} women")

# %%

selection = nf.select(nf.grow(genes, y, seed=1))
print(selection)

# %%
# The clinical columns as they are: categories and numbers.

clinical = X.drop(columns=genes.columns)
print(nf.select(nf.grow(clinical, y, seed=1)).table.to_string(index=False))

# %%
# Survival of the women above and below the median of the most significant gene.

selection.plot("survival", X=genes, y=y)
plt.show()
