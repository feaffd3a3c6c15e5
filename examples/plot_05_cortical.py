"""
Cortical thickness on fsaverage5
================================

Maps of cortical thickness are smooth: neighbouring vertices carry nearly the same values. 200
simulated people, half of them with a thinner cortex in one region.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np
from nilearn import datasets, plotting

import nullforest as nf

surface = datasets.load_fsaverage("fsaverage5")["inflated"].parts["left"]
middle = int(np.argmin(surface.coordinates[:, 0]))  # on the lateral side
X, y, region = nf.simulate.cortical(200, 0.02, relevance=0.5, seed_vertex=middle, seed=3)
selection = nf.select(nf.grow(X, y, seed=1))
inside = selection.support & region
print(f"{selection.n_selected} vertices selected, {inside.sum()} of them in the region.")

# %%
# −log₁₀ p on the inflated surface.

mesh = [surface.coordinates, surface.faces]
significance = -np.log10(selection.pvalues)
plotting.plot_surf(mesh, significance, hemi="left", view="lateral", cmap="viridis", vmin=0)
plt.show()
