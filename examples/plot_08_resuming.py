"""
Resuming, merging and clusters
==============================

A forest kept in a folder survives a kill, and forests grown on several machines add up to the
forest that one machine would have grown: a random stream belongs to a seed and a tree number.
"""

# %%

import tempfile

from dask.distributed import Client, LocalCluster

import nullforest as nf

X, y, relevant = nf.simulate.independent(100, 2_000, n_relevant=20, relevance=0.5)
folder = tempfile.mkdtemp()
part = nf.resume(X, y, folder, trees=500)
whole = nf.resume(X, y, folder, trees=1_500)  # the first 500 trees are not grown again
print(whole.tally == nf.grow(X, y, trees=1_500).tally)

# %%
# Two parts, which might be grown on two machines, and their sum.

first = nf.grow(X, y, trees=1_000)
second = nf.grow(X, y, trees=500, first_tree=1_000)
print(first.tally + second.tally == whole.tally)

# %%
# On a Dask cluster, here of two workers of this machine.

workers = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
with LocalCluster(**workers) as cluster, Client(cluster) as client, nf.parallel(client):
    distributed = nf.grow(X, y, trees=1_500)
print(distributed.tally == whole.tally)
selection = nf.select(distributed)
print(selection)
selection.plot("counts", known=relevant)
