"""Why each kind of finding is a fault, and what usually mends it: one table for every renderer."""

from __future__ import annotations

from typing import NamedTuple


class Advice(NamedTuple):
    """What a person who meets a kind of fault for the first time must know."""

    title: str
    """the kind in a few words"""
    why: str
    remedy: str


def advice(rule: str, kind: str = "") -> Advice:
    """That of the finding's kind; of its rule, if the kind is none that has some of its own."""
    return _KINDS.get(kind) or _RULES.get(rule, _UNKNOWN)


def known() -> tuple[frozenset[str], frozenset[str]]:
    """The rules and the kinds that the table has."""
    return frozenset(_RULES), frozenset(_KINDS)


_UNKNOWN = Advice("A limit is exceeded", "The contract does not allow it.", "See the finding.")

_RULES = {
    "steady-allocations": Advice(
        "Allocation on a steady step",
        "Once warm, a backend has all the memory that it needs. What it asks for on every frame "
        "costs time, and fragments the heap of a process that runs for weeks.",
        "Allocate at open or on the first frame, keep it with the request, write into it.",
    ),
    "steady-growth": Advice(
        "Memory grows while nothing changes",
        "Frames of one size and rate come, and live memory rises: a long stream ends in a kill.",
        "Find who still refers to what was made for an earlier frame, and let go of it.",
    ),
    "grow-only": Advice(
        "A buffer grows without need",
        "An earlier step needed as much, so a buffer that is kept would have been large enough.",
        "Keep the buffer when frames get smaller, and grow it only beyond its capacity.",
    ),
    "bounded-in-flight": Advice(
        "Frames pile up inside the backend",
        "Every frame held back is memory, and it is not bounded by the number of requests.",
        "Block in execute() while all requests are busy, and return results as they are ready.",
    ),
    "prompt-release": Advice(
        "Only the garbage collector frees it",
        "It runs when it likes, and hardly ever in a process that allocates nothing per frame.",
        "Break the reference cycle in close(), or hold one side of it by a weak reference.",
    ),
    "teardown-release": Advice(
        "Memory is left after close()",
        "Each open and close leaves some behind, so that a server that reopens its filters grows.",
        "Free in close() whatever open and execute took, queues and results included.",
    ),
    "teardown-resources": Advice(
        "A resource is left after close()",
        "The process has a limit on these; it is reached after enough cycles.",
        "Stop, join, close or unmap it in close(), on the path of an error as well.",
    ),
    "output": Advice(
        "A result is not that of its frame",
        "A fresh instance, fed this frame alone, gives another result: buffers that are used again "
        "let data of one frame into another.",
        "Look at what is kept between frames: who writes it, who still reads it, and its size.",
    ),
    "error-path": Advice(
        "An error costs more than its frame",
        "Bad input comes in every long stream. It must cost one exception, and nothing after it.",
        "Give the request back to its pool on the path of the error too (try/finally).",
    ),
}

_REUSE = "Make it once, keep it with the request, and write into it: out= or copy_ on a buffer."
_NAME_IT = "Give what was started or opened here back in close()"
_KINDS = {
    "churn": Advice(
        "Allocated and freed in the same step",
        "It leaks nothing, so that no leak check sees it; and each frame pays for it.",
        _REUSE,
    ),
    "turnover": Advice(
        "Made anew instead of reused",
        "It replaces its like of an earlier step, which is freed: churn with a delay.",
        _REUSE + " Results can come from a pool to which they return when dropped.",
    ),
    "kept": Advice(
        "Kept from each frame until close()",
        "Something per frame is held as long as the backend lives.",
        "Find the list, dict or cache that it is added to, and remove what is done with.",
    ),
    "late": Advice(
        "Made after the warm-up",
        "It is made once and kept, but only after the first frames: a latency spike, late.",
        "Make it at open, or on the first frame; or ask for a longer warm-up with --warmup.",
    ),
    "leak-per-frame": Advice(
        "Leaks with every frame",
        "It is alive when the steady steps end, and there is more of it the more frames there are.",
        "Let go of it when its result is out: look for a list of results, tasks or closures.",
    ),
    "leak-per-resolution-change": Advice(
        "Leaks with every change of resolution",
        "The same sizes came before, and coming back to them costs memory again.",
        "Free the old state before the new is made, or find it again by its size.",
    ),
    "unbounded-cache": Advice(
        "A cache without bound",
        "One entry for each size ever seen, and none is given up.",
        "Bound it (the last few sizes), or keep one buffer that only grows.",
    ),
    "input-kept": Advice(
        "Input frames are kept",
        "The caller's frame stays alive as long as something refers to it or to a view of it.",
        "Copy what is needed into a buffer, and drop the frame when its inference has ended.",
    ),
    "regrowth": Advice(
        "A buffer is made again",
        "An earlier step needed as much: it was freed or thrown away in between.",
        "Keep the larger buffer and use a part of it; compare with its capacity, not its shape.",
    ),
    "unbounded-in-flight": Advice(
        "More and more frames in flight",
        "What is held back rises with the length of the stream.",
        "Hand each result out as soon as it is ready; only a fixed delay is bounded.",
    ),
    "in-flight-above-nireq": Advice(
        "More in flight than there are requests",
        "The pool is meant to bound memory, and does not.",
        "Take a request from the pool before a frame is accepted, and wait while it is empty.",
    ),
    "unbounded-queue": Advice(
        "Frames queue without bound",
        "When frames come faster than they are worked on, all of them are kept.",
        "Block in execute() until a request is free.",
    ),
    "delayed-release": Advice(
        "Freed by the garbage collector only",
        "A reference cycle keeps it: when it goes is left to chance.",
        "Break the cycle in close(): bound methods, closures and tracebacks are the usual links.",
    ),
    "leak-per-cycle": Advice(
        "Leaks with every open and close",
        "Cycles after the first leave it behind, so it is no one-time initialisation.",
        "Free it in close(): also what class attributes, registries and native handles hold.",
    ),
    "leak-per-error": Advice(
        "Leaks with every error",
        "The path of an error leaves out a release that the good path has.",
        "Release in a finally block, and keep no exception: its traceback holds every local.",
    ),
    "thread": Advice(
        "A thread is left running",
        "It keeps its stack and all that its target refers to.",
        _NAME_IT + ": tell the thread to stop, wake it, and join it.",
    ),
    "file-descriptor": Advice(
        "A file descriptor is left open",
        "The limit is about a thousand by default; then nothing can be opened any more.",
        _NAME_IT + ", with a context manager where one fits.",
    ),
    "memfd": Advice(
        "A memory file is left open",
        "Its pages stay as long as the descriptor or a mapping of it does.",
        _NAME_IT + ".",
    ),
    "child-process": Advice(
        "A child process is left behind",
        "It holds memory that no count of this process shows.",
        _NAME_IT + ": end it, and wait for it, so that no zombie stays.",
    ),
    "mapped-file": Advice(
        "A file is left mapped",
        "Address space and page cache stay taken.",
        _NAME_IT + ": close the mmap, and drop the arrays that look into it.",
    ),
    "memfd-mapping": Advice(
        "A memory file is left mapped", "Its pages stay taken.", _NAME_IT + ": close the mmap."
    ),
    "executable-mapping": Advice(
        "Code that was made at run time is left",
        "Each cycle compiles again, and keeps what the last one compiled.",
        "Compile once for the process, or free the compiled kernel in close().",
    ),
    "anonymous-mapping": Advice(
        "Memory mapped by native code is left",
        "It was mapped past the allocator, so that only the kernel's list shows it.",
        _NAME_IT + " by munmap, with the address and length that mmap gave.",
    ),
    "shared-memory-segment": Advice(
        "A shared memory segment is left",
        "It outlives the process, and takes memory until the machine restarts.",
        _NAME_IT + ": close() and, by its maker, unlink().",
    ),
    "wrong-data": Advice(
        "Wrong pixels",
        "The result has the right size and another frame's data, or a mix.",
        "Look for a view of a buffer that is written while somebody still reads it, and for parts "
        "of a buffer that a smaller frame leaves as they were.",
    ),
    "other-frame": Advice(
        "The result is another frame's",
        "A buffer was filled for the next frame before this one was read out of it.",
        "Give the result memory of its own, or hold the request until it is collected.",
    ),
    "out-of-order": Advice(
        "Results change places",
        "They must come in the order of submission, whichever request is done first.",
        "Keep tasks in a queue in order, and hand out its head only when that one is ready.",
    ),
    "stale-size": Advice(
        "The size is that of the frame before",
        "The output was configured once, and not again when the size changed.",
        "Take the size from each frame, not from when the backend was opened.",
    ),
    "wrong-shape": Advice(
        "The result has a wrong shape",
        "Whoever reads it by the expected shape reads beyond its end.",
        "Compute the shape of the output from that of this frame.",
    ),
    "unreadable": Advice(
        "The result can't be read",
        "Its `data` raises, so that nobody can use it: it was returned all the same.",
        "Raise from get_result() instead, or keep what the result refers to alive.",
    ),
    "wrong-pts": Advice(
        "The time stamp is wrong",
        "Sound and picture part, or a muxer refuses the frame.",
        "Copy pts from the input frame of the same task.",
    ),
    "missing-result": Advice(
        "A frame has no result",
        "It was accepted and never came back: dropped, or still held after flush().",
        "flush() must finish all that is in flight and hand out every result.",
    ),
    "extra-result": Advice(
        "A frame has more than one result",
        "A task was delivered twice, or given back to a queue that it had left.",
        "Take a task out of its queue in the same step in which its result is handed out.",
    ),
    "result-count": Advice(
        "Another number of results",
        "Fed one by one, a second instance gives another number of them.",
        "Count what flush() hands out when several frames are in flight.",
    ),
    "lost-at-flush": Advice(
        "What is in flight is lost in flush()",
        "The last frames of every stream have no result.",
        "flush() must wait for what is in flight, and leave the results to get_result().",
    ),
    "swallowed-error": Advice(
        "An error is swallowed",
        "The frame has neither a result nor an exception: the caller waits, or loses sync.",
        "Raise at the turn of the frame: keep the exception with its task and raise it there.",
    ),
    "good-frame-failed": Advice(
        "A good frame fails after a bad one",
        "The bad frame left state behind that the next one meets.",
        "Restore the request before it returns to the pool.",
    ),
    "good-frame-lost": Advice(
        "A good frame is lost after a bad one",
        "Its task was dropped with the bad one, or its request never returned.",
        "Fail only the task at fault, and return the request whatever happened.",
    ),
    "wrong-after-error": Advice(
        "A wrong result after a bad frame",
        "A buffer was left half written, and the next frame used it.",
        "Write the whole buffer for each frame, or mark it as empty on an error.",
    ),
    "extra-event": Advice(
        "More results and errors than frames",
        "One frame was answered twice.",
        "Answer a task once: take it out of its queue before raising.",
    ),
    "flush-error": Advice(
        "flush() fails after a bad frame",
        "The error was told already, or should have been at its frame.",
        "Raise an error once, at the turn of its frame, and finish the rest.",
    ),
    "close-error": Advice(
        "close() fails after a bad frame",
        "What comes after the failing line is never released.",
        "Make close() release everything whatever state it finds.",
    ),
    "second-close": Advice(
        "A second close() does something",
        "Whoever cleans up after an error closes again; native code then frees what is freed.",
        "Return at once from close() if it has been called, and forget each handle as it goes.",
    ),
    "crash": Advice(
        "Bad frames crash the process",
        "Nothing in Python can catch that.",
        "Check size, format and contiguity before native code gets the pointer.",
    ),
    "hang": Advice(
        "Bad frames make it hang",
        "A request that never returns to its pool blocks every later frame.",
        "Return the request on the path of the error, and wake whoever waits.",
    ),
    "no-end": Advice(
        "The run with bad frames comes to no end",
        "It broke off in a way that gives no verdict on the frames after it.",
        "Run it by hand with such a frame; the finding says where it stopped.",
    ),
}
