"""
How many random draws are enough?
=================================

Ninety random candidates hold one of the best 5 % with a probability of 99 %, whatever the model
and however many hyperparameters it has. Nothing is trained here: the count follows from drawing
without replacement, and is computed exactly.

Run it as a script, with ``--out theory.png`` to save the figure.
"""

import sys

from sksearch.stats import draws_to_hit, hit_probability

N_MODELS = 100_000

# %%
# Of N models M are good enough. All n draws miss them with probability C(N - M, n) / C(N, n).
# The table is the smallest n with a hit more probable than p, next to what was published [1]_.

probabilities = (0.5, 0.95, 0.99)
published = {1: (69, 298, 458), 5: (14, 59, 90), 10: (7, 29, 44)}  # by top %

print(f"draws to hit the top of {N_MODELS:,} models\n")
print(f"{'':<9}" + "".join(f"{f'p > {p}':>10}{'published':>11}" for p in probabilities))
for percent, theirs in published.items():
    ours = tuple(draws_to_hit(N_MODELS, N_MODELS * percent // 100, p) for p in probabilities)
    cells = "".join(f"{a:>10}{b:>11}" for a, b in zip(ours, theirs, strict=True))
    print(f"{f'top {percent} %':<9}{cells}")
    assert ours == theirs

# %%
# The size of the space hardly matters, as long as it is large: with few models each miss removes a
# good part of those that are left.

print(f"\ndraws to hit the top 5 % with p > 0.99\n\n{'models':>13}{'draws':>8}")
for n_models in (20, 100, 600, 10_000, 100_000, 10_000_000):
    print(f"{n_models:>13,}{draws_to_hit(n_models, n_models // 20, 0.99):>8}")

# %%
# What the theory does not say is how good the best 5 % are. If one model in a thousand is much
# better than the others, 90 draws miss it nine times out of ten.

top_thousandth = hit_probability(N_MODELS, N_MODELS // 1000, 90)
print(f"\nthe best 0.1 % are hit by 90 draws with probability {top_thousandth:.3f}")

# %%
# The probability of a hit over the count of draws, with the published counts as dots. The axis of
# probabilities is stretched towards 0 and 1.

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
    draws = range(1, 601)
    for (percent, counts), color in zip(
        published.items(), ("#0072B2", "#D55E00", "#009E73"), strict=True
    ):
        n_top = N_MODELS * percent // 100
        curve = [hit_probability(N_MODELS, n_top, n) for n in draws]
        ax.plot(draws, curve, lw=2, color=color, label=f"top {percent} %")
        dots = [hit_probability(N_MODELS, n_top, n) for n in counts]
        ax.plot(counts, dots, "o", ms=7, color=color, mec="w")
        for x, y in zip(counts, dots, strict=True):
            ax.annotate(x, (x, y), (7, -11), textcoords="offset points", color=color, fontsize=9)
    for p in probabilities:
        ax.axhline(p, color="#6b7480", lw=0.8, ls=":", zorder=0)
    ax.set_xscale("log")
    ax.set_xticks([1, 3, 10, 30, 100, 300], [1, 3, 10, 30, 100, 300])
    ax.set_xticks([], minor=True)
    ax.set_yscale("logit")
    ticks = [0.01, 0.05, *probabilities, 0.999]
    ax.set_yticks(ticks, ticks)
    ax.set_yticks([], minor=True)
    ax.set_xlim(1, 600)
    ax.set_ylim(0.009, 0.9995)
    ax.set_xlabel("Draws")
    ax.set_ylabel("Probability of a hit")
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(which="both", length=0)
    ax.legend(loc="upper left", frameon=False)
    ax.set_title("Few draws hit the top few percent", loc="left", fontsize=11)
    if __name__ == "__main__" and "--out" in sys.argv[:-1]:
        fig.savefig(sys.argv[sys.argv.index("--out") + 1], dpi=150)

# %%
# .. [1] H. Bertrand, "Hyper-parameter optimization in deep learning and transfer learning",
#    thesis, Universite Paris-Saclay, 2019.
