"""Guessing a whole show, beside the obvious scikit-learn pipeline. One core, CPU time.

    pip install -r benchmarks/requirements.txt
    python benchmarks/guess_show.py DATA [--show FRIENDS] [--runs 3]

DATA is the TVShowGuess folder. Learned from: all episodes before the judged ones. Guessed: every scene of the judged
file in which two or more main characters speak, each remembered once it is over. Reading the transcripts is not timed.
The pipeline is TfidfVectorizer (words and pairs of words, sub-linear) and LogisticRegression over what each speaker
says in a scene; it looks at nothing else, as `vanilla` does. Medians.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from understudy.guessing.baselines import Vanilla, whole
from understudy.guessing.joint import Joint
from understudy.guessing.scenes import Guesses, Masked, Masking, TrainingScenes, guess_in_order
from understudy.guessing.shows import Show, shows_in
from understudy.story.dialogue import Guesser
from understudy.story.persona import Persona
from understudy.story.types import Scene


class Pipeline:
    """The obvious way."""

    def __init__(self, lessons: TrainingScenes) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        texts, labels = [], []
        masking = Masking(lessons.main, lessons.names)
        for scene in lessons.scenes:
            masked = masking.masked(scene)
            for mask, (text,) in whole(masked.scene).items():
                texts.append(text)
                labels.append(masked.answers[mask])
        words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
        self._model = make_pipeline(words, LogisticRegression(C=8.0, max_iter=300))
        self._model.fit(texts, labels)

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        said = whole(masked)
        shares = self._model.predict_proba([text for (text,) in said.values()])
        classes = list(self._model.classes_)
        return {
            mask: {persona.name: float(row[classes.index(persona.name)]) for persona in personas}
            for mask, row in zip(said, shares)
        }


def judged(make: Callable[[TrainingScenes], Guesser], show: Show) -> tuple[float, float, float]:
    """Seconds to learn, scenes a second, accuracy."""
    lessons, masking = TrainingScenes(show.earlier, show.main, show.names), Masking(show.main, show.names)
    begun = time.process_time()
    guesser = make(lessons)
    learned = time.process_time() - begun
    asked = [(one.scene, len(masking.masked(one.scene).answers) > 1) for one in show.file]
    begun = time.process_time()
    found = list(guess_in_order(guesser, asked, masking, lambda names, _scene: [Persona(name) for name in names]))
    seconds = time.process_time() - begun
    return learned, len(found) / seconds, right(found)


def right(found: Sequence[tuple[Masked, Guesses]]) -> float:
    told = [
        max(guesses[mask], key=lambda name: guesses[mask][name]) == who
        for masked, guesses in found
        for mask, who in masked.answers.items()
    ]
    return sum(told) / len(told)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--show", default="FRIENDS")
    arguments.add_argument("--runs", type=int, default=3)
    given = arguments.parse_args()
    show = next(one for one in shows_in(given.data) if one.name == given.show)
    print(f"{show.title}: {len(show.earlier):,} scenes to learn from, {len(show.file):,} in the file")
    print(f"{'':20}{'learning, s':>12}{'scenes a second':>17}{'accuracy':>10}")
    for name, make in (("scikit-learn", Pipeline), ("vanilla", Vanilla), ("joint", Joint)):
        runs = [judged(make, show) for _ in range(given.runs)]
        learned, speed, accuracy = (statistics.median(values) for values in zip(*runs))
        print(f"{name:20}{learned:12.1f}{speed:17.0f}{accuracy:10.3f}")


if __name__ == "__main__":
    main()
