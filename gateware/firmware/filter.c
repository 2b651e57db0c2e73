#include "filter.h"

#include "hw.h"
#include "wire.h"

// Half bytes, an address's first one first.
#define PLACES 12u
// From this one on they tell a group from another.
#define GROUP_PLACE 8u

// The addresses, in the order of the register's bits.
enum { CARD, OWNER, CARDS, ALL, LOAD, CLAIM, ADDRESSES };

// Each one's half bytes, and what the filter has: to which addresses a value belongs, bit n for address n.
static struct {
  uint8_t value[ADDRESSES];
  uint8_t belongs[16];
} places[PLACES];

static bool is_told(uint32_t address, uint32_t place) {
  return places[place].belongs[places[place].value[address]] & 1u << address;
}

static void publish(uint32_t place, uint32_t value) {
  uint32_t belongs = places[place].belongs[value];
  WRITE(CSR_FILTER, 1u << (FILTER_PLACES_SHIFT + place) | value << FILTER_VALUE_SHIFT | belongs);
}

// Half byte by half byte: with the first that is forgotten, and until the last that is written, no frame has the address.
static void forget(uint32_t address, uint32_t place) {
  if (!is_told(address, place)) return;
  uint32_t value = places[place].value[address];
  places[place].belongs[value] &= (uint8_t) ~(1u << address);
  publish(place, value);
}

static void tell(uint32_t address, uint32_t place, uint32_t value) {
  places[place].belongs[value] |= (uint8_t)(1u << address);
  places[place].value[address] = (uint8_t)value;
  publish(place, value);
}

// From this place on: those of the upper bits of `word`.
static void tell_word(uint32_t address, uint32_t place, uint32_t end, uint32_t word) {
  for (; place < end; place++) {
    tell(address, place, word >> 28);
    word <<= 4;
  }
}

static void tell_all(uint32_t address, uint32_t hi, uint32_t lo) {
  tell_word(address, 0, 4, hi << 16);
  tell_word(address, 4, PLACES, lo);
}

void filter_start(void) {
  // What a reset finds there is still there.
  for (uint32_t value = 0; value < 16; value++) {
    WRITE(CSR_FILTER, FILTER_PLACES_MASK << FILTER_PLACES_SHIFT | value << FILTER_VALUE_SHIFT);
  }
  tell_all(CARD, READ(CSR_MAC_HI), READ(CSR_MAC_LO));
  tell_all(CARDS, CARDS_HI, CARDS_LO);
  tell_all(ALL, 0xFFFF, 0xFFFFFFFF);
  tell_all(LOAD, GROUP_HI, GROUP_LO);
  tell_all(CLAIM, GROUP_HI, GROUP_LO);
  filter_load(false, 0);
  filter_claim(false, 0);
}

void filter_owner(const struct mac *owner) {
  for (uint32_t place = 0; place < PLACES; place++) forget(OWNER, place);
  if (owner != 0) tell_all(OWNER, owner->hi, owner->lo);
}

static void group(uint32_t address, bool member, uint32_t number) {
  bool told = is_told(address, GROUP_PLACE);
  uint32_t before = 0;
  for (uint32_t place = GROUP_PLACE; place < PLACES; place++) before = before << 4 | places[place].value[address];
  if (told == member && (before == number || !member)) return;
  for (uint32_t place = GROUP_PLACE; place < PLACES; place++) forget(address, place);
  if (member) tell_word(address, GROUP_PLACE, PLACES, number << 16);
}

void filter_load(bool member, uint32_t number) {
  group(LOAD, member, number);
}

void filter_claim(bool member, uint32_t number) {
  group(CLAIM, member, number);
}
