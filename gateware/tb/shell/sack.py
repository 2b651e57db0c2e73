"""The window of numbers as crates/core/wire/src/sack.rs has it, said in sets."""

NEW, DUPLICATE, BEYOND = ARRIVALS = ("new", "duplicate", "beyond")
WINDOW = 256
NUMBERS = 1 << 32


class Sack:
    def __init__(self, first):
        self.next = first
        self.there = set()

    def insert(self, number):
        ahead = (number - self.next) % NUMBERS
        if ahead >= NUMBERS // 2 or number in self.there:
            return DUPLICATE
        if ahead > WINDOW:
            return BEYOND
        self.there.add(number)
        while self.next in self.there:
            self.there.remove(self.next)
            self.next = (self.next + 1) % NUMBERS
        return NEW

    def ring(self):
        """Bit n % 256 for each number that is there beyond the first missing one."""
        return sum(1 << number % WINDOW for number in self.there)
