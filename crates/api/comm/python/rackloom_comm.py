"""Groups of cards that work together over their links, on NumPy arrays.

    from rackloom_comm import Communicator

    with Communicator("card0,card1,card2") as comm:
        sums = comm.allreduce([a, b, c])               # an array of each rank, and the result of each
        request = comm.begin.gather([a, b, c], root=1)  # goes on meanwhile
        request.wait()[1]                               # what rank 1 got
        again = comm.prepare.allreduce([a, b, c])       # on what is in the arrays when it is started
        again.start().wait()

It is rackloom_comm.h by ctypes; librackloom_comm.so is where RACKLOOM_COMM_LIBRARY says, or on the loader's path. A
rank that gets nothing gets None. Where arrays of ranks differ in length the operation is that of MPI with a v.
Processes are a group without cards, each of them one rank (`rackloom comm run --hosts 2 -- python3 program.py`):

    from rackloom_comm import Hosts

    with Hosts() as hosts:
        sum = hosts.allreduce(a)                        # this rank's array, and its result

Elements are int8 to int64, float16 to float64, and bfloat16 where NumPy knows such a type.
"""

import ctypes
import os

import numpy as np

_TYPES = {"int8": 1, "int16": 2, "int32": 3, "int64": 4, "float32": 5, "float64": 6, "float16": 7, "bfloat16": 8}
_OPS = {"sum": 1, "min": 2, "max": 3, "prod": 4, "and": 5, "or": 6, "xor": 7}
_KINDS = {
    name: number
    for number, name in enumerate(
        "barrier send sendrecv broadcast scatter gather allgather alltoall reduce allreduce reduce_scatter".split(), 1
    )
}


class CommError(RuntimeError):
    """Why an operation failed; code is that of the header."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class _Operation(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("kind", "type", "op", "root", "peer", "reserved")] + [
        ("count", ctypes.c_uint64),
        ("counts", ctypes.POINTER(ctypes.c_uint64)),
    ]


def _load():
    library = ctypes.CDLL(os.environ.get("RACKLOOM_COMM_LIBRARY", "librackloom_comm.so"))
    handle, place = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
    operation, integer = ctypes.POINTER(_Operation), ctypes.POINTER(ctypes.c_int)
    for name, arguments in {
        "rl_comm_open": [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32, place],
        "rl_comm_size": [handle],
        "rl_comm_card": [handle, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t],
        "rl_comm_split": [handle, integer, integer, place, integer],
        "rl_comm_prepare": [handle, operation, place, place, place],
        "rl_request_start": [handle],
        "rl_request_wait": [handle],
        "rl_request_test": [handle, integer],
        "rl_request_free": [handle],
        "rl_comm_free": [handle],
        "rl_comm_rank": [handle],
        "rl_comm_shrink": [handle, place],
        "rl_hosts_join": [ctypes.c_uint32, place],
    }.items():
        getattr(library, name).argtypes = arguments
    library.rl_comm_error.restype = ctypes.c_char_p
    library.rl_request_ns.restype = ctypes.c_uint64
    library.rl_request_ns.argtypes = [handle]
    return library


_library = None


def _call(name, *arguments):
    global _library
    _library = _library or _load()
    code = getattr(_library, name)(*arguments)
    if code:
        raise CommError(code, _library.rl_comm_error().decode())


def _same(arrays):
    """Arrays of one type without gaps. They stay the caller's own where they have none already."""
    made = [None if a is None else np.ascontiguousarray(a) for a in arrays]
    dtypes = {a.dtype for a in made if a is not None}
    if len(dtypes) > 1:
        raise TypeError(f"arrays of one type, not of {', '.join(sorted(map(str, dtypes)))}")
    dtype = dtypes.pop() if dtypes else np.dtype("int8")
    if dtype.name not in _TYPES or not dtype.isnative:
        raise TypeError(f"cards have no {dtype}: {', '.join(_TYPES)}")
    return made, dtype


class Request:
    """An operation that was begun, or is ready to be."""

    def __init__(self, comm, operation, give, get):
        size, self._handle, self._kept = len(give), None, (comm, operation, give)
        self._get = get
        pointers = ctypes.c_void_p * size
        at = lambda arrays: pointers(*(None if a is None else a.ctypes.data for a in arrays))
        made = ctypes.c_void_p()
        _call("rl_comm_prepare", comm._open(), operation, at(give), at(get), ctypes.byref(made))
        self._handle = made

    def start(self):
        """Begins it, on what is in its arrays now."""
        _call("rl_request_start", self._handle)
        return self

    def test(self):
        """Whether it is over."""
        over = ctypes.c_int()
        _call("rl_request_test", self._handle, ctypes.byref(over))
        return bool(over.value)

    def wait(self):
        """What each rank got. The arrays are those of the next start, too."""
        _call("rl_request_wait", self._handle)
        return self._get

    @property
    def seconds(self):
        """How long its programs ran, by the clock of the card that took longest."""
        return _library.rl_request_ns(self._handle) / 1e9

    def __del__(self):
        if getattr(self, "_handle", None):
            _library.rl_request_free(self._handle)


class _Operations:
    """Operations by name; what is done with each is up to who makes it."""

    def __init__(self, comm, way):
        self._comm, self._way = comm, way

    def _do(self, kind, give, get, dtype, count=0, counts=None, op="sum", root=0, peer=0):
        if op not in _OPS:
            raise ValueError(f"no operation `{op}`: {', '.join(_OPS)}")
        if counts is not None:
            counts = (ctypes.c_uint64 * len(counts))(*counts)
        operation = _Operation(_KINDS[kind], _TYPES[dtype.name], _OPS[op], root, peer, 0, count, counts)
        return self._way(Request(self._comm, operation, give, get))

    def _all(self, arrays):
        arrays, dtype = _same(arrays)
        if len(arrays) != self._comm.size:
            raise ValueError(f"{len(arrays)} arrays for {self._comm.size} ranks")
        return arrays, dtype

    def _alike(self, arrays):
        arrays, dtype = self._all(arrays)
        if len({a.size for a in arrays}) > 1:
            raise ValueError("arrays of one length")
        return arrays, dtype, arrays[0].size

    def _only(self, rank, array):
        if not 0 <= rank < self._comm.size:
            raise ValueError(f"rank {rank} is not in a group of {self._comm.size}")
        return [array if r == rank else None for r in range(self._comm.size)]

    def barrier(self):
        """Nobody goes on before all have come."""
        nothing = [None] * self._comm.size
        return self._do("barrier", nothing, nothing, np.dtype("int8"))

    def send(self, array, to, root=0):
        """The root's array, to rank `to`."""
        (array,), dtype = _same([array])
        get = self._only(to, np.empty_like(array))
        return self._do("send", self._only(root, array), get, dtype, array.size, root=root, peer=to)

    def sendrecv(self, arrays, by=1):
        """The array of each, to the rank so many after it."""
        arrays, dtype, count = self._alike(arrays)
        return self._do("sendrecv", arrays, [np.empty_like(a) for a in arrays], dtype, count, peer=by)

    def broadcast(self, array, root=0):
        """The root's array, to all."""
        (array,), dtype = _same([array])
        get = [np.empty_like(array) for _ in range(self._comm.size)]
        return self._do("broadcast", self._only(root, array), get, dtype, array.size, root=root)

    def scatter(self, blocks, root=0):
        """The root's blocks, an array for each rank."""
        blocks, dtype = self._all(blocks)
        give = self._only(root, np.concatenate([b.ravel() for b in blocks]))
        get = [np.empty_like(b) for b in blocks]
        return self._do("scatter", give, get, dtype, counts=[b.size for b in blocks], root=root)

    def gather(self, arrays, root=0):
        """The arrays of all one behind the other, to the root."""
        arrays, dtype = self._all(arrays)
        get = self._only(root, np.empty(sum(a.size for a in arrays), dtype))
        return self._do("gather", arrays, get, dtype, counts=[a.size for a in arrays], root=root)

    def allgather(self, arrays):
        """The arrays of all one behind the other, to all."""
        arrays, dtype = self._all(arrays)
        get = [np.empty(sum(a.size for a in arrays), dtype) for _ in arrays]
        return self._do("allgather", arrays, get, dtype, counts=[a.size for a in arrays])

    def alltoall(self, blocks):
        """blocks[a][b] of rank a, to rank b, which gets those for it one behind the other."""
        size = self._comm.size
        if len(blocks) != size or any(len(row) != size for row in blocks):
            raise ValueError(f"a block of each of {size} ranks for each")
        flat, dtype = _same([b for row in blocks for b in row])
        give = [np.concatenate([b.ravel() for b in flat[r * size : (r + 1) * size]]) for r in range(size)]
        get = [np.empty(sum(b.size for b in flat[r::size]), dtype) for r in range(size)]
        return self._do("alltoall", give, get, dtype, counts=[b.size for b in flat])

    def reduce(self, arrays, op="sum", root=0):
        """The arrays of all, reduced, to the root."""
        arrays, dtype, count = self._alike(arrays)
        return self._do("reduce", arrays, self._only(root, np.empty_like(arrays[0])), dtype, count, op=op, root=root)

    def allreduce(self, arrays, op="sum"):
        """The arrays of all, reduced, to all."""
        arrays, dtype, count = self._alike(arrays)
        return self._do("allreduce", arrays, [np.empty_like(a) for a in arrays], dtype, count, op=op)

    def reduce_scatter(self, arrays, op="sum", counts=None):
        """The arrays of all, reduced; of the result, a part to each: of so many elements, or one of as many as that of
        the others."""
        arrays, dtype, count = self._alike(arrays)
        size = self._comm.size
        if counts is None:
            if count % size:
                raise ValueError(f"{count} elements do not make {size} parts: give counts")
            counts = [count // size] * size
        if len(counts) != size or sum(counts) != count:
            raise ValueError(f"counts of {size} parts that are {count} elements together")
        get = [np.empty(part, dtype) for part in counts]
        return self._do("reduce_scatter", arrays, get, dtype, counts=list(counts), op=op)


class Communicator(_Operations):
    """A group of cards, rank by rank: those that are named, or all that answer. Their operations are its methods."""

    def __init__(self, cards=None, net=None, timeout=60.0, _handle=None):
        self._handle = _handle
        if _handle is None:
            made = ctypes.c_void_p()
            text = lambda value: None if value is None else value.encode()
            _call("rl_comm_open", text(net), text(cards), int(timeout * 1000), ctypes.byref(made))
            self._handle = made
        self.size = _library.rl_comm_size(self._handle)
        super().__init__(self, lambda request: request.start().wait())
        self.begin = _Operations(self, Request.start)
        self.prepare = _Operations(self, lambda request: request)

    def _open(self):
        if self._handle is None:
            raise ValueError("the communicator was closed")
        return self._handle

    @property
    def cards(self):
        """The names of the cards, rank by rank."""
        name = ctypes.create_string_buffer(64)
        names = []
        for rank in range(self.size):
            _call("rl_comm_card", self._open(), rank, name, len(name))
            names.append(name.value.decode())
        return names

    def split(self, colours, keys=None):
        """Groups of the ranks of one colour each, by colour; a rank whose colour is None is in none."""
        ints = ctypes.c_int * self.size
        colours = ints(*(-1 if colour is None else colour for colour in colours))
        parts, count = (ctypes.c_void_p * self.size)(), ctypes.c_int()
        _call("rl_comm_split", self._open(), colours, keys and ints(*keys), parts, ctypes.byref(count))
        return [Communicator(_handle=ctypes.c_void_p(part)) for part in parts[: count.value]]

    def shrink(self):
        """The group of the cards that are left, once one was lost."""
        made = ctypes.c_void_p()
        _call("rl_comm_shrink", self._open(), ctypes.byref(made))
        return type(self)(_handle=made)

    def close(self):
        """Waits until all that was begun is over. With the last group of a split the cards are released."""
        handle, self._handle = self._handle, None
        if handle is not None:
            _call("rl_comm_free", handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class _OfHosts:
    """Operations of hosts by name, on this rank's array; what is done with each is up to who makes it."""

    def __init__(self, hosts, way):
        self._hosts, self._way = hosts, way

    def _do(self, kind, array, gives=True, gets=None, blocks=1, op="sum", root=0, peer=0):
        (array,), dtype = _same([array])
        if op not in _OPS:
            raise ValueError(f"no operation `{op}`: {', '.join(_OPS)}")
        if array.size % blocks:
            raise ValueError(f"{array.size} elements do not make {blocks} parts")
        operation = _Operation(_KINDS[kind], _TYPES[dtype.name], _OPS[op], root, peer, 0, array.size // blocks, None)
        get = None if gets is None else np.empty(gets, dtype)
        return self._way(Request(self._hosts, operation, [array if gives else None], [get]))

    def _whole(self, array):
        return self._hosts.size * np.size(array)

    def barrier(self):
        """Nobody goes on before all have come."""
        return self._do("barrier", np.empty(0, np.int8))

    def send(self, array, to, root=0):
        """The root's array, to rank `to`. All ranks pass one of this length."""
        rank = self._hosts.rank
        gets = np.shape(array) if rank == to else None
        return self._do("send", array, rank == root, gets, root=root, peer=to)

    def sendrecv(self, array, by=1):
        """The array of each, to the rank so many after it."""
        return self._do("sendrecv", array, gets=np.shape(array), peer=by)

    def broadcast(self, array, root=0):
        """The root's array, to all. All ranks pass one of this length."""
        return self._do("broadcast", array, self._hosts.rank == root, np.shape(array), root=root)

    def scatter(self, array, root=0):
        """A part of the root's array to each. All ranks pass one of this length."""
        size = self._hosts.size
        return self._do("scatter", array, self._hosts.rank == root, np.size(array) // size, size, root=root)

    def gather(self, array, root=0):
        """The arrays of all one behind the other, to the root."""
        return self._do("gather", array, gets=self._whole(array) if self._hosts.rank == root else None, root=root)

    def allgather(self, array):
        """The arrays of all one behind the other, to all."""
        return self._do("allgather", array, gets=self._whole(array))

    def alltoall(self, array):
        """A part of each array to each rank, which gets those for it one behind the other."""
        return self._do("alltoall", array, gets=np.size(array), blocks=self._hosts.size)

    def reduce(self, array, op="sum", root=0):
        """The arrays of all, reduced, to the root."""
        gets = np.shape(array) if self._hosts.rank == root else None
        return self._do("reduce", array, gets=gets, op=op, root=root)

    def allreduce(self, array, op="sum"):
        """The arrays of all, reduced, to all."""
        return self._do("allreduce", array, gets=np.shape(array), op=op)

    def reduce_scatter(self, array, op="sum"):
        """The arrays of all, reduced; of the result, a part to each."""
        size = self._hosts.size
        return self._do("reduce_scatter", array, gets=np.size(array) // size, blocks=size, op=op)


class Hosts(_OfHosts):
    """A group of processes, of which this is one. Operations take this rank's array and give what it gets, or None."""

    def __init__(self, timeout=60.0, _handle=None):
        self._handle = _handle
        if _handle is None:
            made = ctypes.c_void_p()
            _call("rl_hosts_join", int(timeout * 1000), ctypes.byref(made))
            self._handle = made
        self.size, self.rank = _library.rl_comm_size(self._handle), _library.rl_comm_rank(self._handle)
        super().__init__(self, lambda request: request.start().wait()[0])
        self.begin = _OfHosts(self, Request.start)
        self.prepare = _OfHosts(self, lambda request: request)

    def split(self, colour, key=0):
        """The group of the ranks with this colour, in the order of their keys; with None, None."""
        part, count = ctypes.c_void_p(), ctypes.c_int()
        colours, keys = (ctypes.c_int(-1 if colour is None else colour), ctypes.c_int(key))
        places = [ctypes.byref(of) for of in (colours, keys, part, count)]
        _call("rl_comm_split", self._open(), *places)
        return Hosts(_handle=part) if count.value else None

    _open, shrink, close = Communicator._open, Communicator.shrink, Communicator.close
    __enter__, __exit__ = Communicator.__enter__, Communicator.__exit__
