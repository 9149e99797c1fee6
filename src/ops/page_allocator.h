// Large tensors from a PagePool instead of the allocator that libtorch has for processors.
#pragma once

namespace edgewise::detail {

// For the whole process and the rest of its life.
void useKeptPages();

// Hands to the system what is kept; nothing where useKeptPages was not called.
void releaseKeptPages();

}  // namespace edgewise::detail
