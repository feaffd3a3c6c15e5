"""Constants of the null models that can move a p-value, by stage.

The last line above each names its unit, the data it was set on, and the models it enters:

- *simulated*: set by hand on simulated null data with seeds below 5000;
- *correlated*: set by hand on that and on leukaemia and cortical data with seeds below 6000;
- *none*: follows from the reason given, no data were looked at.

`make study-sensitivity` halves and doubles each on other data (`docs/constants.md`). Numerical
constants, which decide how exactly an integral or a root is computed, stand beside their code. The
number and the sampling of virtual probes are set in `forest/null_column_budget.py`. Modules read
the constants through this one (`constants.NAME`), so that the study can vary them.
"""

from __future__ import annotations

# Stage 1: mean.

#: Share of null features beyond the bulk. Relevant features there do not influence the mean.
#: [probability; simulated; probes, bagged]
BULK_TAIL = 0.1
#: Added to the sum of the bulk: a null feature that was never selected could have been.
#: [selections; none; probes, bagged]
PSEUDO_COUNT = 0.5
#: With fewer features, less than ten lie beyond the bulk, so it is widened in proportion; and
#: features share the nodes noticeably.
#: [features; none; bagged]
BULK_FEATURES = 100
#: A stratum with fewer in its bulk takes the common scale: 1/√100 is a 10 % standard error.
#: [selections; none; probes]
STRATUM_SELECTIONS = 100
#: Largest factor between a stratum's scale and the common one. Where most counts are 0 and a few
#: are large, the mean of the bulk hardly depends on the scale, and the estimate can be far off.
#: [factor; simulated; probes]
SCALE_RATIO = 2.0
#: Share of the probes that must remain when those evaluated too seldom are dropped.
#: [probability; none; probes]
KEPT_PROBES = 0.5

# Stage 2: overdispersion.

#: Latent contrasts of a feature. The largest of three varies about as probes do, of five in some
#: forests and of two in others.
#: [contrasts; simulated; probes, bagged]
CONTRASTS = 3
#: Grid of the random effect's σ: from none to rates that differ by a factor of 2.5 either way.
#: [log rate; simulated; probes]
SIGMAS = (0.0, 0.15, 0.25, 0.35, 0.5, 0.7, 0.9)
#: Scale of the exponential prior of σ > 0: rates that differ by a fifth.
#: [log rate; simulated; probes]
SIGMA_SCALE = 0.2
#: Prior probability of σ = 0 for independent features. Few trees cannot tell σ: with a smaller one
#: the null was more conservative with few trees than with many.
#: [probability; simulated; probes]
NO_EFFECT = 0.85
#: The same for correlated features.
#: [probability; correlated; probes]
NO_EFFECT_CORRELATED = 0.1
#: Features count as correlated in part from the first value on, fully from the second. Independent
#: features have 0 to .0001, genes and cortical maps .02 to .05.
#: [mean squared correlation; correlated; probes]
CORRELATED = (0.005, 0.015)
#: Grid of the common factor on the couplings, beyond two prior standard deviations either way.
#: [log coupling; simulated; bagged]
LOG_COUPLING_FACTORS = (-0.45, -0.3, -0.15, 0.0, 0.15, 0.3, 0.45)
#: Prior standard deviation of that factor: a best cut is not the largest of three fixed contrasts.
#: [log coupling; simulated; bagged]
COUPLING_DEVIATION = 0.2
#: Nodes won by null features per feature of the pool, above which a tree is saturated.
#: [nodes per feature; simulated; probes, bagged]
SATURATED = 0.5
#: Factor on the couplings in saturated trees: samples left by splits on the target agree less with
#: the whole sample than random ones do.
#: [factor; simulated; probes, bagged]
SATURATED_COUPLING = 0.75

# Stage 3: tail.

#: Least at the splice point, 1/√25 being a 20 % standard error; fewer probes do not represent a
#: stratum at all. A larger size makes the test conservative where trees see all samples.
#: [effective sample size; simulated; probes]
SPLICE_SIZE = 25
#: Least beyond the count whose mean excess the extrapolated tail takes over; 1/√200 is 7 %.
#: [effective sample size; simulated; probes]
EXCESS_SIZE = 200
#: Standard deviation of the error of the tail's coupling factor, for independent features.
#: [log coupling; simulated; probes]
MISFIT = 0.125
#: Added per unit of the logarithm of the probe-to-feature ratio (root of the sum of squares):
#: independent probes represent correlated features less well.
#: [log coupling; correlated; probes]
MISFIT_PER_RATIO = 0.6
#: Upper bound of the two, and the value for correlated features.
#: [log coupling; correlated; probes]
LARGEST_MISFIT = 0.3
#: Bound on the distance of the two outer points over which the tail is averaged. It is reached
#: where probes are few or couplings hardly change the tail, as with few features.
#: [log coupling; simulated; probes]
TAIL_SHIFT = 1.0

# Shadows.

#: Shadows of a stratum from which its tail is taken; those of smaller ones come from all features.
#: So many have the effective sample size of the splice point at the usual level of .05.
#: [shadows; none; shadows]
STRATUM_SHADOWS = 200
#: Standard errors by which the mean of a feature's own shadows must exceed that of its stratum to
#: be used as it is: about one in 30 000 does by chance.
#: [standard errors; none; shadows]
CLEARLY_LARGER = 4.0
#: Weight of the stratum's variance, in copies: variances of skewed counts are noisy.
#: [copies; simulated; shadows]
VARIANCE_PRIOR = 50.0
#: Least effective sample size at the splice point. Shadows have the ties and correlations of their
#: features, so that their own tail is trusted further than that of probes.
#: [effective sample size; simulated; shadows]
SHADOW_SPLICE_SIZE = 10
#: Standard deviation of the error of the tail's coupling factor: columns of different kinds share
#: a tail. A smaller value is too liberal in mixed tables.
#: [log coupling; simulated; shadows]
SHADOW_MISFIT = 0.5

# Groups of features.

#: Fewest features outside a group whose summed count is taken for normal.
#: [features; none; groups]
NORMAL_REST = 30
