#include "edgewise/ops/rowwise.h"

#include "ops/autograd_support.h"
#include "ops/cpu_rowwise.h"

namespace edgewise {
namespace {

using detail::AutogradContext;
using detail::sizeOf;
using detail::variable_list;

class ColumnSum : public torch::autograd::Function<ColumnSum> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    context->saved_data["rows"] = x.size(0);
    const at::Tensor input = x.contiguous();
    const std::size_t rows = sizeOf(input, 0);
    const std::size_t width = sizeOf(input, 1);
    at::Tensor out = at::empty({x.size(1)}, x.options().requires_grad(false));
    detail::dispatchReal(
        "columnSum", input,
        [&]<class Real>(Real) {
          detail::sumRowsInto(input.data_ptr<Real>(), rows, width, out.data_ptr<Real>());
        },
        [&]<class Real>(Real, cuda::Stream stream) {
          const at::Tensor scratch = at::empty(
              {static_cast<std::int64_t>(cuda::columnSumScratch(rows, width))}, out.options());
          cuda::columnSum<Real>(stream, input.data_ptr<Real>(), rows, width,
                                scratch.data_ptr<Real>(), out.data_ptr<Real>());
        });
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return {expandRows(gradients[0], context->saved_data["rows"].toInt())};
  }
};

class ExpandRows : public torch::autograd::Function<ExpandRows> {
 public:
  static at::Tensor forward(AutogradContext*, const at::Tensor& row, std::int64_t rows) {
    if (onDevice(row)) {
      return row.expand({rows, row.size(0)}).contiguous();
    }
    const at::Tensor input = row.contiguous();
    at::Tensor out = at::empty({rows, row.size(0)}, row.options().requires_grad(false));
    detail::dispatchReal("expandRows", input, [&]<class Real>(Real) {
      detail::repeatRow(input.data_ptr<Real>(), static_cast<std::size_t>(rows), sizeOf(input, 0),
                        out.data_ptr<Real>());
    });
    return out;
  }
  static variable_list backward(AutogradContext*, const variable_list& gradients) {
    return {columnSum(gradients[0]), at::Tensor()};
  }
};

class RowSum : public torch::autograd::Function<RowSum> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    context->saved_data["columns"] = x.size(1);
    if (onDevice(x)) {
      return x.sum(1);
    }
    const at::Tensor input = x.contiguous();
    at::Tensor out = at::empty({x.size(0)}, x.options().requires_grad(false));
    detail::dispatchReal("rowSum", input, [&]<class Real>(Real) {
      detail::sumEachRow(input.data_ptr<Real>(), sizeOf(input, 0), sizeOf(input, 1),
                         out.data_ptr<Real>());
    });
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return {expandColumns(gradients[0], context->saved_data["columns"].toInt())};
  }
};

class ExpandColumns : public torch::autograd::Function<ExpandColumns> {
 public:
  static at::Tensor forward(AutogradContext*, const at::Tensor& column, std::int64_t columns) {
    if (onDevice(column)) {
      return column.unsqueeze(1).expand({column.size(0), columns}).contiguous();
    }
    const at::Tensor input = column.contiguous();
    at::Tensor out = at::empty({column.size(0), columns}, column.options().requires_grad(false));
    detail::dispatchReal("expandColumns", input, [&]<class Real>(Real) {
      detail::repeatColumn(input.data_ptr<Real>(), sizeOf(input, 0),
                           static_cast<std::size_t>(columns), out.data_ptr<Real>());
    });
    return out;
  }
  static variable_list backward(AutogradContext*, const variable_list& gradients) {
    return {rowSum(gradients[0]), at::Tensor()};
  }
};

class AddBias : public torch::autograd::Function<AddBias> {
 public:
  static at::Tensor forward(AutogradContext*, const at::Tensor& x, const at::Tensor& bias) {
    return x + bias;
  }
  static variable_list backward(AutogradContext*, const variable_list& gradients) {
    return {gradients[0], columnSum(gradients[0])};
  }
};

// An operation on each row by kernels of the CPU, or by torch's own on a device.
template <class OnDevice, class OnCpu>
at::Tensor byRows(const char* op, const at::Tensor& x, at::IntArrayRef shape,
                  const OnDevice& on_device, const OnCpu& on_cpu) {
  if (onDevice(x)) {
    return on_device(x);
  }
  const at::Tensor input = x.contiguous();
  at::Tensor out = at::empty(shape, x.options().requires_grad(false));
  detail::dispatchReal(op, input, [&]<class Real>(Real) {
    on_cpu(input.data_ptr<Real>(), sizeOf(input, 0), sizeOf(input, 1), out.data_ptr<Real>());
  });
  return out;
}

class RowSoftmax : public torch::autograd::Function<RowSoftmax> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    context->save_for_backward({x});
    return byRows(
        "rowSoftmax", x, x.sizes(), [](const at::Tensor& in) { return at::softmax(in, 1); },
        [](const auto* in, std::size_t rows, std::size_t columns, auto* out) {
          detail::softmaxOf(in, rows, columns, out);
        });
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor share = rowSoftmax(context->get_saved_variables()[0]);
    const at::Tensor mean = rowSum(gradients[0] * share);
    return {share * (gradients[0] - expandColumns(mean, share.size(1)))};
  }
};

class RowLogSumExp : public torch::autograd::Function<RowLogSumExp> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    context->save_for_backward({x});
    return byRows(
        "rowLogSumExp", x, {x.size(0)}, [](const at::Tensor& in) { return at::logsumexp(in, 1); },
        [](const auto* in, std::size_t rows, std::size_t columns, auto* out) {
          detail::logSumExpOf(in, rows, columns, out);
        });
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor x = context->get_saved_variables()[0];
    return {expandColumns(gradients[0], x.size(1)) * rowSoftmax(x)};
  }
};

class Logistic : public torch::autograd::Function<Logistic> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x) {
    context->save_for_backward({x});
    const at::Tensor input = x.contiguous();
    at::Tensor out = at::empty_like(input);
    const auto count = static_cast<std::size_t>(input.numel());
    detail::dispatchReal(
        "logistic", input,
        [&]<class Real>(Real) {
          detail::logisticOf(input.data_ptr<Real>(), count, out.data_ptr<Real>());
        },
        [&]<class Real>(Real, cuda::Stream stream) {
          cuda::logistic<Real>(stream, input.data_ptr<Real>(), count, out.data_ptr<Real>());
        });
    return out;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const at::Tensor value = logistic(context->get_saved_variables()[0]);
    return {gradients[0] * value * (1 - value)};
  }
};

class CrossEntropy : public torch::autograd::Function<CrossEntropy> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& logits,
                            const at::Tensor& labels) {
    context->save_for_backward({logits, labels});
    const at::Tensor x = logits.contiguous();
    const at::Tensor y = labels.contiguous();
    at::Tensor each = at::empty_like(x);
    const auto count = static_cast<std::size_t>(x.numel());
    detail::dispatchReal(
        "binaryCrossEntropy", x,
        [&]<class Real>(Real) {
          detail::crossEntropyOf(x.data_ptr<Real>(), y.data_ptr<Real>(), count,
                                 each.data_ptr<Real>());
        },
        [&]<class Real>(Real, cuda::Stream stream) {
          cuda::crossEntropy<Real>(stream, x.data_ptr<Real>(), y.data_ptr<Real>(), count,
                                   each.data_ptr<Real>());
        });
    return totalSum(each) / std::max<std::int64_t>(1, x.numel());
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& logits = saved[0];
    const std::int64_t count = std::max<std::int64_t>(1, logits.numel());
    // Spread by our own operation: broadcasting's gradient is one of torch's sums.
    const at::Tensor share =
        expandRows((gradients[0] / count).reshape({1}), logits.numel()).view(logits.sizes());
    return {(logistic(logits) - saved[1]) * share, at::Tensor()};
  }
};

}  // namespace

at::Tensor columnSum(const at::Tensor& x) {
  detail::requireMatrix("columnSum", x);
  return ColumnSum::apply(x);
}

at::Tensor expandRows(const at::Tensor& row, std::int64_t rows) {
  detail::requireVector("expandRows", row);
  return ExpandRows::apply(row, rows);
}

at::Tensor rowSum(const at::Tensor& x) {
  detail::requireMatrix("rowSum", x);
  return RowSum::apply(x);
}

at::Tensor expandColumns(const at::Tensor& column, std::int64_t columns) {
  detail::requireVector("expandColumns", column);
  return ExpandColumns::apply(column, columns);
}

at::Tensor addBias(const at::Tensor& x, const at::Tensor& bias) {
  detail::requireMatrix("addBias", x);
  detail::requireColumnVector("a bias", bias, x, x.size(1));
  return AddBias::apply(x, bias);
}

at::Tensor rowSoftmax(const at::Tensor& x) {
  detail::requireMatrix("rowSoftmax", x);
  return RowSoftmax::apply(x);
}

at::Tensor rowLogSumExp(const at::Tensor& x) {
  detail::requireMatrix("rowLogSumExp", x);
  return RowLogSumExp::apply(x);
}

at::Tensor unitRows(const at::Tensor& x) {
  // Below the root, whose slope has no bound where it begins.
  constexpr double kLeastSquare = 1e-24;
  const at::Tensor length = at::sqrt(at::clamp_min(rowSum(x * x), kLeastSquare));
  return x / expandColumns(length, x.size(1));
}

at::Tensor totalSum(const at::Tensor& x) { return columnSum(x.reshape({-1, 1})).reshape({}); }

at::Tensor logistic(const at::Tensor& x) { return Logistic::apply(x); }

at::Tensor binaryCrossEntropy(const at::Tensor& logits, const at::Tensor& labels) {
  if (logits.sizes() != labels.sizes() || logits.scalar_type() != labels.scalar_type()) {
    throw ShapeError(fmt::format("{} logits against {} labels of another shape or type",
                                 logits.numel(), labels.numel()));
  }
  return CrossEntropy::apply(logits, labels);
}

}  // namespace edgewise
