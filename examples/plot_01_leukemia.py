"""
Genes that tell the sex of leukaemia patients
=============================================

125 patients, 12 625 probe sets: which of them are related to the patient's sex? The answer is
known in part, since genes on the Y chromosome must be among them.
"""

# %%
# The data come with the package. The forest grows until another seed is expected to select the
# same.

import matplotlib.pyplot as plt

import nullforest as nf

data = nf.datasets.load_leukemia_sex()
forest = nf.grow(data.data, data.target, feature_names=data.feature_names, seed=1)
selection = nf.select(forest)
print(selection)

# %%
# Known genes are marked: those on the Y chromosome, and XIST, which only cells with two X
# chromosomes express.

known = selection.support & data.known
print(f"{known.sum()} of the {selection.n_selected} selected features are known to be related.")
selection.plot("counts", known=data.known)
plt.show()

# %%
# The table holds all features, with counts, p-values and q-values.

print(selection.table.head(15).to_string(index=False))
