"""
Batch and age: confounders
==========================

Patients and controls were measured in two batches, and most patients in the second. Every feature
that differs between the batches predicts the label, and is selected. ``blocks=`` tests
the association with the target given the batch, ``adjust=`` given a number such as age.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

import nullforest as nf

rng = np.random.default_rng(0)
batch = np.arange(160) % 2
y = np.where(rng.random(160) < 0.85, batch, 1 - batch)
X = rng.normal(size=(160, 300))
X[:, :5] += 1.6 * y[:, None]  # related to the label
X[:, 5:55] += 1.6 * batch[:, None]  # differ between the batches


def found(selection):
    """How many features of each kind are selected."""
    s = selection.support
    return f"{s[:5].sum()} of 5 true, {s[5:55].sum()} of 50 batch only, {s[55:].sum()} noise"


plain = nf.select(nf.grow(X, y, seed=1))
within = nf.select(nf.grow(X, y, blocks=batch, seed=1))
print("without blocks:", found(plain))
print("within batches:", found(within))

kinds = np.repeat(["related to the label", "differs between batches", "noise"], [5, 50, 245])
axes = plt.subplots(figsize=(6, 4), layout="constrained")[1]
for kind in dict.fromkeys(kinds):
    own = kinds == kind
    axes.loglog(plain.pvalues[own], within.pvalues[own], ".", label=kind)
axes.set_xlabel("p-value without blocks")
axes.set_ylabel("p-value within batches")
axes.legend()
plt.show()

# %%
# Patients are older, and features change with age.

age = rng.normal(50, 10, 160)
y = (rng.random(160) < 1 / (1 + np.exp(-(age - 50) / 7))).astype(int)
X = rng.normal(size=(160, 300))
X[:, :5] += 1.6 * y[:, None]
X[:, 5:55] += 1.6 * (age[:, None] - 50) / 10

print("as they are:", found(nf.select(nf.grow(X, y, seed=1))).replace("batch", "age"))
print("at equal age:", found(nf.select(nf.grow(X, y, adjust=age, seed=1))).replace("batch", "age"))
