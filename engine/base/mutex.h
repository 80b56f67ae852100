#pragma once

#include <mutex>
#include <shared_mutex>

#include "base/invariant.h"

#if defined(__clang__)
#define TIDEMARK_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define TIDEMARK_THREAD_ANNOTATION(x)
#endif

#define GUARDED_BY(x) TIDEMARK_THREAD_ANNOTATION(guarded_by(x))
#define PT_GUARDED_BY(x) TIDEMARK_THREAD_ANNOTATION(pt_guarded_by(x))
#define REQUIRES(...) TIDEMARK_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) TIDEMARK_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) TIDEMARK_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RELEASE(...) TIDEMARK_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define ACQUIRED_AFTER(...) TIDEMARK_THREAD_ANNOTATION(acquired_after(__VA_ARGS__))
#define REQUIRES_SHARED(...) TIDEMARK_THREAD_ANNOTATION(requires_shared_capability(__VA_ARGS__))
#define ACQUIRE_SHARED(...) TIDEMARK_THREAD_ANNOTATION(acquire_shared_capability(__VA_ARGS__))
#define RELEASE_SHARED(...) TIDEMARK_THREAD_ANNOTATION(release_shared_capability(__VA_ARGS__))
#define RELEASE_GENERIC(...) TIDEMARK_THREAD_ANNOTATION(release_generic_capability(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS TIDEMARK_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace tidemark {

/// std::mutex with the annotations of clang's thread-safety analysis. Held for a few memory operations, never over a
/// call into another folder that might lock in turn unless the lock order (engine/README.md) says so.
class TIDEMARK_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() ACQUIRE() {
    // In the simulator everything runs on one thread: a mutex that is taken there can only be one's own.
    if (singleThreaded()) {
      TIDEMARK_INVARIANT(mutex_.try_lock(), std::string("a mutex is locked twice by one thread"));
      return;
    }
    mutex_.lock();
  }
  void unlock() RELEASE() { mutex_.unlock(); }

  /// Set by a simulated world on the thread that runs it: there lock() asserts that the mutex is free.
  static bool& singleThreaded() noexcept {
    static thread_local bool flag = false;
    return flag;
  }

 private:
  std::mutex mutex_;
};

class TIDEMARK_THREAD_ANNOTATION(scoped_lockable) Lock {
 public:
  explicit Lock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() RELEASE() { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
};

/// Many readers or one writer; the same rules as for Mutex.
class TIDEMARK_THREAD_ANNOTATION(capability("mutex")) SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  void lock() ACQUIRE() {
    if (Mutex::singleThreaded()) {
      TIDEMARK_INVARIANT(mutex_.try_lock(), std::string("a shared mutex is locked twice by one thread"));
      return;
    }
    mutex_.lock();
  }
  void unlock() RELEASE() { mutex_.unlock(); }
  void lockShared() ACQUIRE_SHARED() {
    if (Mutex::singleThreaded()) {
      TIDEMARK_INVARIANT(mutex_.try_lock_shared(), std::string("a shared mutex is read under its own write lock"));
      return;
    }
    mutex_.lock_shared();
  }
  void unlockShared() RELEASE_SHARED() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

class TIDEMARK_THREAD_ANNOTATION(scoped_lockable) WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~WriterLock() RELEASE() { mutex_.unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex& mutex_;
};

class TIDEMARK_THREAD_ANNOTATION(scoped_lockable) ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) ACQUIRE_SHARED(mutex) : mutex_(mutex) { mutex_.lockShared(); }
  ~ReaderLock() RELEASE_GENERIC() { mutex_.unlockShared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

}  // namespace tidemark
