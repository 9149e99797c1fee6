// What the autograd functions of this layer share. For their source files alone: these headers of
// libtorch are slow to compile and clang-tidy cannot read them.
#pragma once

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/ivalue.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/custom_function.h>

#include <memory>
#include <utility>

#include "edgewise/util/error.h"
#include "ops/device_kernels.h"

namespace edgewise::detail {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Carries an object through autograd's context, which holds torch's own values alone.
template <class T>
struct Held : torch::CustomClassHolder {
  explicit Held(std::shared_ptr<const T> value) : held(std::move(value)) {}
  std::shared_ptr<const T> held;
};

template <class T>
void keep(AutogradContext* context, const char* name, std::shared_ptr<const T> value) {
  context->saved_data[name] =
      c10::IValue::make_capsule(c10::make_intrusive<Held<T>>(std::move(value)));
}

template <class T>
std::shared_ptr<const T> kept(AutogradContext* context, const char* name) {
  return c10::static_intrusive_pointer_cast<Held<T>>(context->saved_data[name].toCapsule())->held;
}

// For the way back of an operation that is differentiable once: whoever asks for a gradient that
// can be differentiated again would get a wrong one.
inline void requireOnce(const char* op) {
  invariant(!c10::GradMode::is_enabled(), fmt::format("{} is differentiable once", op));
}

inline variable_list contiguous(at::TensorList tensors) {
  variable_list result;
  for (const at::Tensor& tensor : tensors) {
    result.push_back(tensor.defined() ? tensor.contiguous() : tensor);
  }
  return result;
}

// Calls body(zero) with a zero of the tensor's type. Throws ConfigError for what the kernels cannot
// read.
template <class Body>
void byType(const char* op, const at::Tensor& x, Body&& body) {
  if (x.scalar_type() == at::kFloat) {
    body(float{});
  } else if (x.scalar_type() == at::kDouble) {
    body(double{});
  } else {
    throw ConfigError(
        fmt::format("{} works on float or double, got {}", op, c10::toString(x.scalar_type())));
  }
}

// Of an operation that handles tensors on a device by itself.
template <class OnCpu>
void dispatchReal(const char* op, const at::Tensor& x, OnCpu&& on_cpu) {
  if (!x.device().is_cpu()) {
    throw ConfigError(
        fmt::format("{} has no kernel for a tensor on {} in this build", op, x.device().str()));
  }
  byType(op, x, std::forward<OnCpu>(on_cpu));
}

// Calls on_cpu(zero), or on_device(zero, stream) where the tensor lies on a device.
template <class OnCpu, class OnDevice>
void dispatchReal(const char* op, const at::Tensor& x, OnCpu&& on_cpu, OnDevice&& on_device) {
  if constexpr (kDeviceKernels) {
    if (onDevice(x)) {
      byType(op, x, [&]<class Real>(Real zero) { on_device(zero, streamOf(x)); });
      return;
    }
  }
  dispatchReal(op, x, std::forward<OnCpu>(on_cpu));
}

inline std::size_t sizeOf(const at::Tensor& x, std::int64_t dimension) {
  return static_cast<std::size_t>(x.size(dimension));
}

inline void requireMatrix(const char* op, const at::Tensor& x) {
  if (x.dim() != 2) {
    throw ShapeError(fmt::format("{} needs a matrix, got {} dimensions", op, x.dim()));
  }
}

// One entry a column, of the type of `like`.
inline void requireColumnVector(const char* what, const at::Tensor& vector, const at::Tensor& like,
                                std::int64_t columns) {
  if (vector.dim() != 1 || vector.size(0) != columns ||
      vector.scalar_type() != like.scalar_type()) {
    throw ShapeError(fmt::format("{} for {} columns ({}) has {} entries ({}) in {} dimensions",
                                 what, columns, c10::toString(like.scalar_type()), vector.numel(),
                                 c10::toString(vector.scalar_type()), vector.dim()));
  }
}

inline void requireVector(const char* op, const at::Tensor& x) {
  if (x.dim() != 1) {
    throw ShapeError(fmt::format("{} needs a vector, got {} dimensions", op, x.dim()));
  }
}

}  // namespace edgewise::detail
