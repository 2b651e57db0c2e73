/* Buffers of MPI programs, as cards take them: bytes one behind the other. */
#include <stdlib.h>
#include <string.h>

#include "shim.h"

int64_t shim_type_bytes(MPI_Datatype type) {
    int bytes;
    if (type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &bytes) != MPI_SUCCESS || bytes == MPI_UNDEFINED) return -1;
    return bytes;
}

static int64_t elements(const struct shim_buffer *buffer, int block) {
    return buffer->counts ? buffer->counts[block] : buffer->count;
}

static MPI_Datatype type_of(const struct shim_buffer *buffer, int block) {
    return buffer->types ? buffer->types[block] : buffer->type;
}

int64_t shim_bytes(const struct shim_buffer *buffer) {
    int64_t all = 0;
    for (int block = 0; block < buffer->blocks; block++) {
        int64_t bytes = shim_type_bytes(type_of(buffer, block));
        if (bytes < 0 || elements(buffer, block) < 0) return -1;
        all += bytes * elements(buffer, block);
    }
    return all;
}

/* Where a block begins. */
static char *block_at(const struct shim_buffer *buffer, int block) {
    MPI_Aint lb, extent;
    if (buffer->types) return (char *)buffer->at + buffer->displs[block];
    PMPI_Type_get_extent(buffer->type, &lb, &extent);
    int64_t before = buffer->displs ? buffer->displs[block] : (int64_t)block * buffer->count;
    return (char *)buffer->at + before * extent;
}

int shim_pack(void *bytes, const struct shim_buffer *buffer, MPI_Comm comm) {
    int room = (int)shim_bytes(buffer), at = 0;
    for (int block = 0; block < buffer->blocks; block++) {
        int count = (int)elements(buffer, block);
        MPI_Datatype type = type_of(buffer, block);
        if (count > 0 && PMPI_Pack(block_at(buffer, block), count, type, bytes, room, &at, comm) != MPI_SUCCESS) return 0;
    }
    /* Libraries whose packed form has more than the elements are none for us. */
    return at == room;
}

int shim_unpack(const void *bytes, const struct shim_buffer *buffer, MPI_Comm comm) {
    int room = (int)shim_bytes(buffer), at = 0;
    for (int block = 0; block < buffer->blocks; block++) {
        int count = (int)elements(buffer, block), code;
        if (count == 0) continue;
        code = PMPI_Unpack(bytes, room, &at, block_at(buffer, block), count, type_of(buffer, block), comm);
        if (code != MPI_SUCCESS) return code;
    }
    return MPI_SUCCESS;
}

uint32_t shim_op(MPI_Op op) {
    if (op == MPI_SUM) return RL_SUM;
    if (op == MPI_MIN) return RL_MIN;
    if (op == MPI_MAX) return RL_MAX;
    if (op == MPI_PROD) return RL_PROD;
    if (op == MPI_BAND) return RL_AND;
    if (op == MPI_BOR) return RL_OR;
    if (op == MPI_BXOR) return RL_XOR;
    return 0;
}

static uint32_t integer(size_t bytes) {
    return bytes == 1 ? RL_I8 : bytes == 2 ? RL_I16 : bytes == 4 ? RL_I32 : RL_I64;
}

uint32_t shim_type(MPI_Datatype type, MPI_Op op) {
    const struct {
        MPI_Datatype type;
        size_t bytes;
    } with_sign[] = {{MPI_SIGNED_CHAR, 1},       {MPI_INT8_T, 1},         {MPI_SHORT, sizeof(short)},
                     {MPI_INT16_T, 2},           {MPI_INT, sizeof(int)},  {MPI_INT32_T, 4},
                     {MPI_LONG, sizeof(long)},   {MPI_INT64_T, 8},        {MPI_LONG_LONG, sizeof(long long)}},
      without[] = {{MPI_UNSIGNED_CHAR, 1},
                   {MPI_UINT8_T, 1},
                   {MPI_UNSIGNED_SHORT, sizeof(short)},
                   {MPI_UINT16_T, 2},
                   {MPI_UNSIGNED, sizeof(int)},
                   {MPI_UINT32_T, 4},
                   {MPI_UNSIGNED_LONG, sizeof(long)},
                   {MPI_UINT64_T, 8},
                   {MPI_UNSIGNED_LONG_LONG, sizeof(long long)}};
    int bits = op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR;
    for (size_t i = 0; i < sizeof with_sign / sizeof *with_sign; i++)
        if (type == with_sign[i].type) return integer(with_sign[i].bytes);
    /* Sums, products and bits are the same with and without a sign; which is greater is not. */
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (type == without[i].type) return bits || op == MPI_SUM || op == MPI_PROD ? integer(without[i].bytes) : 0;
    if (type == MPI_BYTE) return bits ? RL_I8 : 0;
    if (type == MPI_FLOAT) return bits ? 0 : RL_F32;
    if (type == MPI_DOUBLE) return bits ? 0 : RL_F64;
    return 0;
}
