"""NumPy: sorting and scans. It has one thread."""
import numpy as np

import worker
from worker import Work, fingerprint, operands


def largest(x, k):
    places = np.argpartition(x, -k)[-k:]
    places = places[np.argsort(-x[places], kind="stable")]
    return x[places], places


def make(family, *arguments):
    if family not in worker.ORDERS or worker.THREADS > 1:
        raise ValueError("unknown case")
    x, = operands(family, arguments)
    call = {"sort": lambda: np.sort(x), "argsort": lambda: np.argsort(x, kind="stable"), "median": lambda: np.median(x),
            "topk": lambda: largest(x, worker.sizes(arguments[0])[1]), "cumsum": lambda: np.cumsum(x, int(arguments[1]))}[family]

    def check():
        results = call()
        return fingerprint(results[0] if family == "topk" else results)
    return Work(call, check)


if __name__ == "__main__":
    worker.serve(make, {})
