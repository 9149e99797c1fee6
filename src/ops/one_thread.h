// A scope in which BLAS and LAPACK work on the calling thread alone.
#pragma once

#include <omp.h>

namespace edgewise::detail {

// An OpenBLAS on OpenMP takes as many threads as OpenMP would, whatever it was told itself, and
// cuts its work by them, so that bits would follow the number of threads. The setting is the
// calling thread's own, so other threads do not see it.
class OneThread {
 public:
  OneThread() { omp_set_num_threads(1); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  OneThread(OneThread&&) = delete;
  OneThread& operator=(OneThread&&) = delete;
  ~OneThread() { omp_set_num_threads(before_); }

 private:
  int before_ = omp_get_max_threads();
};

}  // namespace edgewise::detail
