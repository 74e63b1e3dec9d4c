"""fork() while other threads make nodes: the child goes on."""
import os
import threading
import warnings

from baton import relay


def chain(length):
    x = relay.var("x", shape=(2,))
    result = x
    for _ in range(length):
        result = relay.add(result, x)
    return result


def test_children_of_a_process_with_threads_can_make_nodes():
    stop = threading.Event()

    def churn():
        while not stop.is_set():
            chain(200)

    threads = [threading.Thread(target=churn) for _ in range(2)]
    for each in threads:
        each.start()
    try:
        for _ in range(20):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Python 3.12 warns of fork() beside threads
                child = os.fork()
            if child == 0:
                chain(3000)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for each in threads:
            each.join()
