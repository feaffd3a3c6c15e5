"""
NIfTI images in, maps out
=========================

Sixty simulated people, half of them with a stronger signal in one ball of voxels. The images and
the table of participants are files, as a study has them; the answer is an image on the same grid.
"""

# %%
# Images of 24 × 24 × 24 voxels of 4 mm, and a ``participants.tsv`` as BIDS has it.

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import nibabel as nib
import numpy as np
import pandas as pd
from nilearn import plotting
from scipy.ndimage import gaussian_filter

rng = np.random.default_rng(0)
folder = Path(tempfile.mkdtemp())
affine = np.diag([4.0, 4.0, 4.0, 1.0])
affine[:3, 3] = -46.0
grid = np.indices((24, 24, 24)) - 11.5
brain = (grid**2).sum(axis=0) < 11**2
ball = ((grid - np.array([5, 3, 0]).reshape(3, 1, 1, 1)) ** 2).sum(axis=0) < 2.5**2
ill = np.arange(60) % 2
for number, case in enumerate(ill, start=1):
    image = gaussian_filter(rng.normal(size=brain.shape), 1.0) * 4 + 1.2 * case * ball
    nib.save(
        nib.Nifti1Image(image.astype(np.float32), affine), folder / f"sub-{number:02d}_t1.nii.gz"
    )
nib.save(nib.Nifti1Image(brain.astype(np.uint8), affine), folder / "mask.nii.gz")
people = pd.DataFrame(
    {
        "participant_id": [f"sub-{i:02d}" for i in range(1, 61)],
        "group": np.where(ill, "patient", "control"),
    }
)
people.to_csv(folder / "participants.tsv", sep="\t", index=False)

# %%
# One command reads them and writes the maps, and the clusters beside them.

command = [sys.executable, "-m", "nullforest", "select", str(folder / "sub-*_t1.nii.gz")]
command += ["--target", "group", "--sample-table", str(folder / "participants.tsv")]
command += ["--mask", str(folder / "mask.nii.gz"), "--maps", str(folder / "maps")]
command += ["--quiet"]
subprocess.run(command, check=True)
print(pd.read_csv(folder / "maps" / "clusters.csv").to_string(index=False))

# %%

plotting.plot_glass_brain(str(folder / "maps" / "neglog10p.nii.gz"), colorbar=True, threshold=3)
plt.show()
