"""Operations of hosts on NumPy arrays: this process is one rank."""

import numpy as np
from rackloom_comm import CommError, Hosts

with Hosts() as hosts:
    n, me = hosts.size, hosts.rank
    all_of = [np.arange(12 * n, dtype=np.float32).reshape(n, 12) * (r + 1) for r in range(n)]
    own = all_of[me]
    total = sum(all_of[1:], all_of[0])
    same = np.testing.assert_array_equal
    hosts.barrier()
    same(hosts.allreduce(own), total)
    same(hosts.allreduce(own, op="max"), all_of[-1])
    same(hosts.broadcast(own, root=n - 1), all_of[-1])
    same(hosts.sendrecv(own), all_of[me - 1])
    same(hosts.allgather(own), np.concatenate([a.ravel() for a in all_of]))
    same(hosts.alltoall(own), np.concatenate([a[me] for a in all_of]))
    same(hosts.scatter(own, root=1), all_of[1][me])
    same(hosts.reduce_scatter(own), total[me])
    for root in range(n):
        gathered, reduced, sent = hosts.gather(own, root), hosts.reduce(own, root=root), hosts.send(own, root)
        assert (gathered is None) == (reduced is None) == (sent is None) == (me != root)
        if me == root:
            same(gathered, np.concatenate([a.ravel() for a in all_of]))
            same(reduced, total)
            same(sent, all_of[0])
    again = hosts.prepare.allreduce(own)
    for _ in range(3):
        same(again.start().wait()[0], total)
    begun = hosts.begin.allreduce(own)
    hosts.barrier()
    assert begun.test()
    with hosts.split(me // 2, key=-me) as half:
        same(half.allgather(np.array([me])), [1, 0] if me < 2 else np.arange(n - 1, 1, -1))
    try:
        hosts.allreduce(own.astype(complex))
        raise AssertionError("it took complex numbers")
    except TypeError:
        pass
    try:
        hosts.broadcast(own, root=n)
        raise AssertionError("it took a root that is not there")
    except CommError as error:
        assert error.code == 1, error
    hosts.barrier()
    if me == 0:
        print("fine")
