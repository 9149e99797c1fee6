#include "edgewise/ops/backend.h"

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "edgewise/util/error.h"
#include "edgewise/util/parallel.h"
#include "support/test_support.h"

namespace edgewise {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Leaves the process as other tests expect it.
class BackendThreads : public ::testing::Test {
 protected:
  void TearDown() override { setBackendThreads(before_); }

 private:
  int before_ = threadCount();
};

// For the rest of the process, as for a program.
TEST(KeepFreedMemory, GivesLargeTensorsWhatEarlierOnesGaveBack) {
  keepFreedMemory();
  const auto ones = [] { return at::ones({1024, 4096}); };
  const void* first = nullptr;
  {
    const at::Tensor tensor = ones();
    first = tensor.data_ptr();
    EXPECT_EQ(tensor.sum().item<float>(), 1024 * 4096);
  }
  const at::Tensor again = ones();
  EXPECT_EQ(again.data_ptr(), first);
  const at::Tensor other = ones();
  EXPECT_NE(other.data_ptr(), first);
  EXPECT_TRUE(other.equal(again));
  EXPECT_TRUE(at::ones({3}).equal(again[0].slice(0, 0, 3)));
  EXPECT_THROW((void)at::empty({std::int64_t{1} << 50}), ResourceError);
}

TEST(BlasName, IsToldByFolderOrFile) {
  EXPECT_EQ(blasNameFromPath("/usr/lib/x86_64-linux-gnu/openblas-openmp/libblas.so.3"), "OpenBLAS");
  EXPECT_EQ(blasNameFromPath("/opt/lib/libopenblasp-r0.3.21.so"), "OpenBLAS");
  EXPECT_EQ(blasNameFromPath("/opt/intel/lib/libmkl_rt.so.2"), "MKL");
  EXPECT_EQ(blasNameFromPath("/usr/lib/x86_64-linux-gnu/blis-openmp/libblas.so.3"), "BLIS");
  EXPECT_EQ(blasNameFromPath("/usr/lib/x86_64-linux-gnu/atlas/libblas.so.3"), "ATLAS");
  EXPECT_EQ(blasNameFromPath("/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0"), "reference BLAS");
  EXPECT_EQ(blasNameFromPath("/opt/torch/lib/libtorch_cpu.so"), "unknown");
  EXPECT_EQ(blasNameFromPath(""), "unknown");
}

TEST(BlasName, IgnoresFoldersFurtherUp) {
  EXPECT_EQ(blasNameFromPath("/home/openblas/blas/libblas.so.3"), "reference BLAS");
}

TEST(BlasWarning, NamesTheReferenceBlasAndTheRemedy) {
  BackendInfo info;
  info.blas = "reference BLAS";
  info.blas_is_reference = true;
  info.blas_path = "/usr/lib/blas/libblas.so.3";
  const auto warning = blasWarning(info);
  ASSERT_TRUE(warning.has_value());
  EXPECT_THAT(*warning, HasSubstr("/usr/lib/blas/libblas.so.3"));
  EXPECT_THAT(*warning, HasSubstr("libopenblas-openmp-dev"));
}

TEST(BlasWarning, NamesThreadsThatCompete) {
  BackendInfo info;
  info.blas = "OpenBLAS";
  info.blas_threading = BlasThreading::kPthreads;
  const auto warning = blasWarning(info);
  ASSERT_TRUE(warning.has_value());
  EXPECT_THAT(*warning, HasSubstr("OpenMP"));
}

TEST(BlasWarning, IsSilentOtherwise) {
  BackendInfo info;
  info.blas = "OpenBLAS";
  info.blas_threading = BlasThreading::kOpenMp;
  EXPECT_EQ(blasWarning(info), std::nullopt);
  EXPECT_EQ(blasWarning(BackendInfo{}), std::nullopt);
}

TEST(Backend, DescribesTheRunningProcess) {
  const BackendInfo info = inspectBackend();
  EXPECT_THAT(info.torch_version, HasSubstr("."));
  EXPECT_THAT(info.blas, Not(IsEmpty()));
  EXPECT_GE(info.torch_threads, 1);
  EXPECT_EQ(info.cuda_available, !info.cuda_devices.empty());
  RecordProperty("torch", info.torch_version);
  RecordProperty("blas", info.blas);
}

TEST_F(BackendThreads, OneSettingReachesOwnLoopsAndTorch) {
  for (const int threads : {1, 3, 2}) {
    setBackendThreads(threads);
    EXPECT_EQ(threadCount(), threads);
    EXPECT_EQ(at::get_num_threads(), threads);
    EXPECT_EQ(inspectBackend().torch_threads, threads);
  }
}

TEST_F(BackendThreads, ZeroMeansAllCores) {
  setBackendThreads(0);
  EXPECT_GE(threadCount(), 1);
  EXPECT_EQ(at::get_num_threads(), threadCount());
}

TEST_F(BackendThreads, RefusesANegativeNumber) {
  const int before = threadCount();
  testing::expectFailure<ConfigError>([] { setBackendThreads(-2); }, "-2");
  EXPECT_EQ(threadCount(), before);
}

}  // namespace
}  // namespace edgewise
