#include "edgewise/ops/interaction.h"

#include "edgewise/ops/aggregate.h"
#include "edgewise/ops/product.h"
#include "edgewise/ops/rowwise.h"
#include "edgewise/ops/view_pairs.h"
#include "ops/autograd_support.h"
#include "ops/cpu_interaction.h"
#include "ops/sent_rows.h"

namespace edgewise {
namespace {

using detail::AutogradContext;
using detail::SentRows;
using detail::sizeOf;
using detail::variable_list;
using Ends = std::shared_ptr<const PairIndex>;

// What a layer is made of besides tensors. `ends` null: it is wanted at all nodes.
struct Interacting {
  std::shared_ptr<const MessagePlan> plan;
  InteractionEnd end;
  Ends ends;
};

// What comes before rectifier and dropout.
at::Tensor inside(const at::Tensor& h, const at::Tensor& heard, const InteractionWeights& weights) {
  return affine(heard + h, weights.sum, weights.sum_bias) +
         affine(heard * h, weights.product, weights.product_bias);
}

// Out of other operations.
at::Tensor inPieces(const Interacting& how, const at::Tensor& h,
                    const InteractionWeights& weights) {
  const at::Tensor before = inside(h, aggregate(how.plan, h), weights);
  const at::Tensor all = dropout(at::leaky_relu(before, how.end.leak), how.end.mask);
  return how.ends ? gatherEnd(all, how.ends, PairEnd::kBoth) : all;
}

// Both weights, one above the other.
at::Tensor stacked(const at::Tensor& sum, const at::Tensor& product) {
  return at::cat({sum.detach(), product.detach()}).contiguous();
}

// The nodes whose rows are computed, where these are not all.
std::vector<std::uint32_t> nodesOf(const Interacting& how) {
  std::vector<std::uint32_t> nodes;
  if (how.ends) {
    for (const Edge& pair : how.ends->pairs()) {
      nodes.push_back(index(pair.src));
      nodes.push_back(index(pair.dst));
    }
  }
  return nodes;
}

template <class Real>
detail::InteractionInput<Real> inputOf(const Interacting& how, const at::Tensor& own,
                                       const at::Tensor& heard, const at::Tensor& weights) {
  return {own.data_ptr<Real>(),
          heard.data_ptr<Real>(),
          sizeOf(own, 0),
          sizeOf(own, 1),
          sizeOf(weights, 1),
          weights.data_ptr<Real>(),
          static_cast<Real>(how.end.leak)};
}

// On a processor. What is kept is what a layer is made of and what it gave.
class Interact : public torch::autograd::Function<Interact> {
 public:
  // `inputs`: h, sum, sum_bias, product, product_bias.
  static at::Tensor forward(AutogradContext* context, at::TensorList inputs,
                            const std::shared_ptr<const Interacting>& how) {
    const at::Tensor h = inputs[0].detach().contiguous();
    const at::Tensor own = how->ends ? gatherEnd(h, how->ends, PairEnd::kBoth) : h;
    const at::Tensor heard =
        how->ends ? aggregateEnds(how->plan, h, how->ends) : aggregate(how->plan, h);
    const at::Tensor weights = stacked(inputs[1], inputs[3]);
    const at::Tensor bias = (inputs[2] + inputs[4]).detach();
    at::Tensor out = at::empty({own.size(0), weights.size(1)}, own.options());
    const std::vector<std::uint32_t> nodes = nodesOf(*how);
    detail::dispatchReal("interaction", own, [&]<class Real>(Real) {
      detail::interactOnCpu(inputOf<Real>(*how, own, heard, weights), bias.data_ptr<Real>(),
                            how->end.mask, nodes, out.data_ptr<Real>());
    });
    variable_list saved = inputs.vec();
    saved.insert(saved.end(), {heard, out});
    context->save_for_backward(saved);
    detail::keep(context, "how", how);
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto how = detail::kept<Interacting>(context, "how");
    variable_list result = c10::GradMode::is_enabled() ? again(*how, saved, gradients[0])
                                                       : once(*how, saved, gradients[0]);
    result.emplace_back();
    return result;
  }

 private:
  static constexpr std::size_t kInputs = 5;

  // Out of operations that can be differentiated, at all nodes.
  static variable_list again(const Interacting& how, const variable_list& saved,
                             const at::Tensor& gradient) {
    const at::Tensor& h = saved[0];
    const InteractionWeights weights{saved[1], saved[2], saved[3], saved[4]};
    const at::Tensor heard = aggregate(how.plan, h);
    const at::Tensor before = inside(h, heard, weights).detach();
    const at::Tensor slope =
        at::where(before > 0, at::ones_like(before), at::full_like(before, how.end.leak));
    const at::Tensor to_inside =
        dropout(how.ends ? sumByNode(gradient, how.ends) : gradient, how.end.mask) * slope;
    const at::Tensor to_sum = product(to_inside, weights.sum, Transpose::kSecond);
    const at::Tensor to_product = product(to_inside, weights.product, Transpose::kSecond);
    const at::Tensor to_h =
        to_sum + to_product * heard + aggregate(how.plan->transposed(), to_sum + to_product * h);
    const at::Tensor to_bias = columnSum(to_inside);
    return {to_h, product(heard + h, to_inside, Transpose::kFirst), to_bias,
            product(heard * h, to_inside, Transpose::kFirst), to_bias};
  }

  static variable_list once(const Interacting& how, const variable_list& saved,
                            const at::Tensor& given) {
    const at::Tensor gradient = given.contiguous();
    const at::Tensor h = saved[0].contiguous();
    const at::Tensor own = how.ends ? gatherEnd(h, how.ends, PairEnd::kBoth) : h;
    const at::Tensor& heard = saved[kInputs];
    const at::Tensor& out = saved[kInputs + 1];
    const at::Tensor weights = stacked(saved[1], saved[3]);
    const at::Tensor to_own = at::empty_like(own);
    const at::Tensor to_heard = at::empty_like(own);
    const at::Tensor to_weights = at::empty_like(weights);
    at::Tensor to_bias = at::empty({weights.size(1)}, weights.options());
    detail::dispatchReal("interaction", own, [&]<class Real>(Real) {
      detail::interactBackwardOnCpu<Real>(
          inputOf<Real>(how, own, heard, weights),
          {out.data_ptr<Real>(), gradient.data_ptr<Real>(), !how.end.mask.keepsAll(),
           static_cast<Real>(how.end.mask.scale())},
          {to_own.data_ptr<Real>(), to_heard.data_ptr<Real>(), to_weights.data_ptr<Real>(),
           to_bias.data_ptr<Real>()});
    });
    const auto sent = [&](const at::Tensor& rows) {
      return how.ends ? SentRows(rows, how.ends) : SentRows(rows);
    };
    const SentRows beside = sent(to_own);
    const at::Tensor to_h =
        detail::sumOnHost(*how.plan->transposed(), sent(to_heard), {.plus = &beside});
    const std::int64_t in = own.size(1);
    return {to_h, to_weights.narrow(0, 0, in), to_bias, to_weights.narrow(0, in, in), to_bias};
  }
};

void checkWeights(const at::Tensor& h, const InteractionWeights& weights) {
  for (const at::Tensor* weight : {&weights.sum, &weights.product}) {
    detail::requireMatrix("interaction", *weight);
    if (h.dim() != 2 || weight->size(0) != h.size(1) || weight->size(1) != weights.sum.size(1)) {
      throw ShapeError(fmt::format("interaction of rows of {} with weights [{}, {}]",
                                   h.dim() == 2 ? h.size(1) : 0, weight->size(0), weight->size(1)));
    }
  }
  detail::requireColumnVector("the sum's bias", weights.sum_bias, h, weights.sum.size(1));
  detail::requireColumnVector("the product's bias", weights.product_bias, h, weights.sum.size(1));
}

at::Tensor interact(const Interacting& how, const at::Tensor& h,
                    const InteractionWeights& weights) {
  checkWeights(h, weights);
  invariant(how.end.leak >= 0, "what leaks keeps its sign");
  if (onDevice(h)) {
    return inPieces(how, h, weights);
  }
  const variable_list inputs = {h, weights.sum, weights.sum_bias, weights.product,
                                weights.product_bias};
  return Interact::apply(at::TensorList(inputs), std::make_shared<const Interacting>(how));
}

}  // namespace

at::Tensor interaction(const std::shared_ptr<const MessagePlan>& plan, const at::Tensor& h,
                       const InteractionWeights& weights, const InteractionEnd& end) {
  return interact({plan, end, nullptr}, h, weights);
}

at::Tensor interactionAtEnds(const std::shared_ptr<const MessagePlan>& plan, const at::Tensor& h,
                             const InteractionWeights& weights, const InteractionEnd& end,
                             const std::shared_ptr<const PairIndex>& pairs) {
  return interact({plan, end, pairs}, h, weights);
}

}  // namespace edgewise
