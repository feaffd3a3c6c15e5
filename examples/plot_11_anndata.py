"""
Genes of an AnnData
===================

Cells of two groups from three donors. ``nf.select_genes`` writes its results where scanpy's users
look for them; ``blocks=`` asks for genes that tell the groups apart *within* donors.
"""

# %%

import anndata
import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

import nullforest as nf

rng = np.random.default_rng(0)
group, donor = rng.integers(0, 2, 300), rng.integers(0, 3, 300)
rate = np.exp(rng.normal(-1, 1, 300)) * np.ones((300, 1))
rate[:, :10] *= np.where(group[:, None] == 1, 3, 1)  # differ between the groups
rate[:, 10:40] *= 1 + donor[:, None]  # differ between the donors
cells = anndata.AnnData(
    csr_matrix(rng.poisson(rate).astype(np.float32)),
    obs=pd.DataFrame(
        {"group": np.array(["resting", "active"])[group], "donor": np.array(list("ABC"))[donor]},
        index=[f"cell{i}" for i in range(300)],
    ),
    var=pd.DataFrame(index=[f"gene{i}" for i in range(300)]),
)

# %%

selection = nf.select_genes(cells, "group", blocks="donor", seed=1)
print(selection)
print(cells.var.filter(like="nullforest").head())
selection.plot("features", X=cells, y=cells.obs["group"], number=3)
