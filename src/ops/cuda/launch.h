// How kernels are started. A kernel is a struct whose call operator does one element's work and
// talks to no other, so that compiled by nvcc it runs on a GPU and compiled by any other compiler
// it runs in a loop: what a GPU computes can be tested where there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#ifdef __CUDACC__
#include <cuda_runtime.h>

#include <string>

#include "edgewise/util/error.h"
#define EDGEWISE_FN __host__ __device__ inline
#else
#define EDGEWISE_FN inline
#endif

namespace edgewise::cuda {

// cudaStream_t, without its header.
struct Stream {
  void* handle = nullptr;
};

#ifdef __CUDACC__

inline void require(cudaError_t error) {
  if (error == cudaErrorMemoryAllocation) {
    throw ResourceError("the GPU's memory is full", "lower training.batch_size or model.hidden");
  }
  if (error != cudaSuccess) {
    throw Error(std::string("the GPU refused to work: ") + cudaGetErrorString(error),
                "try --device cpu, and see whether other programs can use the GPU",
                ExitCode::kFailure);
  }
}

inline void requireStarted() { require(cudaGetLastError()); }

template <class Body>
__global__ void forEachKernel(std::size_t count, Body body) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < count) {
    body(i);
  }
}

// body(i) for i in [0, count).
template <class Body>
void forEach(Stream stream, std::size_t count, const Body& body, unsigned threads = 256) {
  if (count == 0) {
    return;
  }
  const auto blocks = static_cast<unsigned>((count + threads - 1) / threads);
  forEachKernel<<<blocks, threads, 0, static_cast<cudaStream_t>(stream.handle)>>>(count, body);
  requireStarted();
}

// How many cells a row has; powers of two need no division to find a cell's place.
struct RowCells {
  explicit RowCells(std::size_t cells) : count(cells) {
    while ((std::size_t{1} << shift) < cells) {
      ++shift;
    }
    even = (std::size_t{1} << shift) == cells;
  }
  std::size_t count;
  unsigned shift = 0;
  bool even = false;
};

template <class Body>
__global__ void forEachCellKernel(std::size_t count, RowCells cells, Body body) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < count) {
    const std::size_t row = cells.even ? i >> cells.shift : i / cells.count;
    body(row, i - row * cells.count);
  }
}

// body(row, cell) for all cells of all rows.
template <class Body>
void forEachCell(Stream stream, std::size_t rows, std::size_t cells, const Body& body) {
  if (rows * cells == 0) {
    return;
  }
  // Small groups: one is only done when its slowest row is.
  constexpr unsigned kThreads = 64;
  const auto blocks = static_cast<unsigned>((rows * cells + kThreads - 1) / kThreads);
  forEachCellKernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream.handle)>>>(
      rows * cells, RowCells(cells), body);
  requireStarted();
}

inline void fillZero(Stream stream, void* memory, std::size_t bytes) {
  require(cudaMemsetAsync(memory, 0, bytes, static_cast<cudaStream_t>(stream.handle)));
}

template <class Real, class Width, class Body, class Store>
__global__ void sumRowsKernel(std::size_t rows, Width width_of, Body body, Store store) {
  constexpr unsigned kWarp = 32;
  const std::size_t thread = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  const std::size_t row = thread / kWarp;
  if (row >= rows) {
    return;
  }
  const std::size_t width = width_of(row);
  Real sum = 0;
  for (std::size_t k = thread % kWarp; k < width; k += kWarp) {
    sum += body(row, k);
  }
  for (unsigned offset = kWarp / 2; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(0xFFFFFFFFU, sum, offset);
  }
  if (thread % kWarp == 0) {
    store(row, sum);
  }
}

// store(row, sum over k in [0, width_of(row)) of body(row, k)) for every row.
template <class Real, class Width, class Body, class Store>
void sumRows(Stream stream, std::size_t rows, const Width& width_of, const Body& body,
             const Store& store) {
  if (rows == 0) {
    return;
  }
  constexpr unsigned kThreads = 256;
  const auto blocks = static_cast<unsigned>((rows * 32 + kThreads - 1) / kThreads);
  sumRowsKernel<Real><<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream.handle)>>>(
      rows, width_of, body, store);
  requireStarted();
}

template <class Body>
__global__ void rowMaximumKernel(std::size_t rows, std::size_t width, Body body) {
  constexpr unsigned kWarp = 32;
  const std::size_t thread = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  const std::size_t row = thread / kWarp;
  if (row >= rows) {
    return;
  }
  float most = 0;
  for (std::size_t k = thread % kWarp; k < width; k += kWarp) {
    most = fmaxf(most, body.size(row, k));
  }
  for (unsigned offset = kWarp / 2; offset > 0; offset /= 2) {
    most = fmaxf(most, __shfl_xor_sync(0xFFFFFFFFU, most, offset));
  }
  for (std::size_t k = thread % kWarp; k < width; k += kWarp) {
    body.store(row, k, most);
  }
}

// body.store(row, k, most) for k in [0, width), with the greatest of body.size(row, k).
template <class Body>
void byRowMaximum(Stream stream, std::size_t rows, std::size_t width, const Body& body) {
  if (rows == 0) {
    return;
  }
  constexpr unsigned kThreads = 256;
  const auto blocks = static_cast<unsigned>((rows * 32 + kThreads - 1) / kThreads);
  rowMaximumKernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream.handle)>>>(rows, width,
                                                                                      body);
  requireStarted();
}

#else

template <class Body>
void byRowMaximum(Stream, std::size_t rows, std::size_t width, const Body& body) {
  for (std::size_t row = 0; row < rows; ++row) {
    float most = 0;
    for (std::size_t k = 0; k < width; ++k) {
      const float size = body.size(row, k);
      most = size > most ? size : most;
    }
    for (std::size_t k = 0; k < width; ++k) {
      body.store(row, k, most);
    }
  }
}

template <class Body>
void forEach(Stream, std::size_t count, const Body& body, unsigned = 256) {
  for (std::size_t i = 0; i < count; ++i) {
    body(i);
  }
}

template <class Body>
void forEachCell(Stream, std::size_t rows, std::size_t cells, const Body& body) {
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t cell = 0; cell < cells; ++cell) {
      body(row, cell);
    }
  }
}

inline void fillZero(Stream, void* memory, std::size_t bytes) { std::memset(memory, 0, bytes); }

template <class Real, class Width, class Body, class Store>
void sumRows(Stream, std::size_t rows, const Width& width_of, const Body& body,
             const Store& store) {
  for (std::size_t row = 0; row < rows; ++row) {
    Real sum = 0;
    for (std::size_t k = 0; k < width_of(row); ++k) {
      sum += body(row, k);
    }
    store(row, sum);
  }
}

#endif

// Bytes that so many take up where others follow in the same scratch memory.
inline std::size_t inScratch(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

// Neighbouring columns that one thread works on, read and written at once.
template <class Real, int Width>
struct alignas(sizeof(Real) * Width) Pack {
  Real values[Width];

  EDGEWISE_FN Real& operator[](int i) { return values[i]; }
  EDGEWISE_FN Real operator[](int i) const { return values[i]; }
  EDGEWISE_FN void add(Real scale, const Pack& other) {
    for (int i = 0; i < Width; ++i) {
      values[i] += scale * other.values[i];
    }
  }
  EDGEWISE_FN void addProduct(Real scale, const Pack& a, const Pack& b) {
    for (int i = 0; i < Width; ++i) {
      values[i] += scale * a.values[i] * b.values[i];
    }
  }
};

template <class Real, int Width>
EDGEWISE_FN const Pack<Real, Width>& packAt(const Real* row, std::size_t column) {
  return *reinterpret_cast<const Pack<Real, Width>*>(row + column * Width);
}
template <class Real, int Width>
EDGEWISE_FN Pack<Real, Width>& packAt(Real* row, std::size_t column) {
  return *reinterpret_cast<Pack<Real, Width>*>(row + column * Width);
}

// Whether packs of so many can be read and written at this pointer, or at all of an array of them.
template <int Width, class Matrix>
bool packsAt(const Matrix& matrix) {
  if constexpr (std::is_array_v<Matrix>) {
    bool all = true;
    for (const auto& pointer : matrix) {
      all = all && packsAt<Width>(pointer);
    }
    return all;
  } else {
    return reinterpret_cast<std::uintptr_t>(matrix) % (Width * sizeof(*matrix)) == 0;
  }
}

// Calls start.template operator()<W>() with packs of `Most`, or single columns where they do not
// divide the rows or a matrix does not begin at the address of one: parameters of a model lie side
// by side and may not.
template <int Most = 4, class Start, class... Matrices>
void byPack(std::size_t width, const Start& start, const Matrices&... matrices) {
  if (width % Most == 0 && (packsAt<Most>(matrices) && ...)) {
    start.template operator()<Most>();
  } else {
    start.template operator()<1>();
  }
}

}  // namespace edgewise::cuda
