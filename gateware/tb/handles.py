"""Makes the ports of a module quick to find, for benches that name them in each cycle.

cocotb looks up `dut.port` by a method each time, which takes a third of the time of a bench that does so in each cycle.
A port stays where it is: here it becomes an attribute of its module when it is first named.
"""

from cocotb.handle import HierarchyObject

look_up = HierarchyObject.__getattr__


def find(self, name: str):
    child = look_up(self, name)
    self.__dict__[name] = child
    return child


HierarchyObject.__getattr__ = find
