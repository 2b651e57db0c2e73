"""The Python module's operations, compared with NumPy's."""

import numpy as np
from rackloom_comm import CommError, Communicator


def same(got, want):
    assert len(got) == len(want), (len(got), len(want))
    for rank, (g, w) in enumerate(zip(got, want)):
        assert (g is None) == (w is None), (rank, g, w)
        assert g is None or (g.dtype == w.dtype and np.array_equal(g, w)), (rank, g, w)


comm = Communicator("card0,card1,card2")
assert comm.size == 3 and comm.cards[2].startswith("card2 ("), comm.cards
rng = np.random.default_rng(3)
for dtype in ("int8", "int16", "int32", "int64", "float16", "float32", "float64"):
    a = [rng.integers(-4, 5, 12).astype(dtype) for _ in range(3)]
    v = [x[: 3 * rank + 1] for rank, x in enumerate(a)]
    none = [None] * 3
    same(comm.barrier(), none)
    same(comm.send(a[1], to=2, root=1), [None, None, a[1]])
    same(comm.sendrecv(a), [a[2], a[0], a[1]])
    same(comm.broadcast(a[0], root=2), [a[0]] * 3)
    same(comm.scatter(v, root=1), v)
    same(comm.gather(v, root=1), [None, np.concatenate(v), None])
    same(comm.allgather(a), [np.concatenate(a)] * 3)
    blocks = [[a[s][: (s * 2 + t) % 4] for t in range(3)] for s in range(3)]
    same(comm.alltoall(blocks), [np.concatenate([blocks[s][t] for s in range(3)]) for t in range(3)])
    ops = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}
    if dtype.startswith("int"):
        ops |= {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
    for name, op in ops.items():
        want = op(op(a[0], a[1]), a[2])
        same(comm.reduce(a, name, root=2), [None, None, want])
        same(comm.allreduce(a, name), [want] * 3)
        same(comm.reduce_scatter(a, name), [want[:4], want[4:8], want[8:]])
        same(comm.reduce_scatter(a, name, [1, 0, 11]), [want[:1], want[1:1], want[1:]])

# Gaps and shapes; a shape stays.
table = np.arange(24, dtype="f4").reshape(4, 6)[:, ::2]
assert comm.broadcast(table)[1].shape == (4, 3)
same(comm.broadcast(table), [table] * 3)

# While the program goes on, and again and again.
request = comm.begin.allreduce(a)
same(request.wait(), [a[0] + a[1] + a[2]] * 3)
assert request.test() and request.seconds > 0
again = comm.prepare.allreduce(a)
for turn in range(3):
    a[0][:] = turn
    same(again.start().wait(), [a[0] + a[1] + a[2]] * 3)

parts = comm.split([1, None, 1], keys=[1, 0, 0])
assert [part.cards[0][:5] for part in parts] == ["card2"]
same(parts[0].allgather(a[:2]), [np.concatenate(a[:2])] * 2)
parts[0].close()


def fails(error, text, call):
    try:
        call()
    except error as raised:
        assert text in str(raised), raised
        return raised
    raise AssertionError(f"it did not fail: {text}")


u = [x.astype("u4") for x in a]
fails(TypeError, "uint32", lambda: comm.allreduce(u))
fails(TypeError, ">i4", lambda: comm.allreduce([x.astype(">i4") for x in a]))
fails(TypeError, "one type", lambda: comm.allgather([a[0], u[1], a[2]]))
fails(ValueError, "2 arrays for 3", lambda: comm.allreduce(a[:2]))
fails(ValueError, "mean", lambda: comm.allreduce(a, "mean"))
fails(ValueError, "rank 3", lambda: comm.gather(a, root=3))
assert fails(CommError, "no xor of f64", lambda: comm.allreduce(a, "xor")).code == 6
comm.close()
fails(ValueError, "closed", lambda: comm.barrier())
print("fine")
