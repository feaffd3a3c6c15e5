"""
SNPs, with a Manhattan plot
===========================

Genotypes have three values, and columns of rare variants are nearly constant. Features are compared
with null features of the same kind: they are divided into strata by the ties of their columns.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

import nullforest as nf

rng = np.random.default_rng(0)
n_people, n_snps = 400, 5_000
frequency = rng.uniform(0.02, 0.5, n_snps)
genotype = rng.binomial(2, frequency, (n_people, n_snps)).astype(np.float32)
chromosome = np.sort(rng.integers(1, 23, n_snps))
causal = [500, 2_400, 3_750]
risk = 1.2 * (genotype[:, causal] - 2 * frequency[causal]).sum(axis=1)
ill = rng.random(n_people) < 1 / (1 + np.exp(-risk))

selection = nf.select(nf.grow(genotype, ill, seed=1))
print(selection)
print("causal:", [f"x{i}" for i in causal])

# %%

selection.plot("manhattan", groups=chromosome, named=3)
plt.show()
