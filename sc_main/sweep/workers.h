// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// This program again, as children: several at a time.

#ifndef WEFT_SC_MAIN_SWEEP_WORKERS_H
#define WEFT_SC_MAIN_SWEEP_WORKERS_H

#include <csignal>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace weft::sweep {

/// Processors that this process may use.
size_t usable_processors();

class Workers {
 public:
  explicit Workers(size_t most);
  /// Ends the children that are left.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  bool full() const { return children_.size() >= most_; }
  bool idle() const { return children_.empty(); }

  /// Starts the program with these arguments. A child ends when this process does, and hears no signal of the
  /// terminal. `number` is for wait(). Errors: UserError(internal).
  void start(size_t number, const std::vector<std::string>& arguments);

  struct Ended {
    size_t number = 0;
    int exit_code = 0;  ///< 128 + n: ended by signal n
    bool by_signal = false;
    std::string out, err;  ///< the beginning of each, if it is very long
  };
  /// One that has ended. Waits for it a tenth of a second at most, or until a signal comes.
  std::optional<Ended> wait();

  /// At once, with their own children.
  void kill_all();

 private:
  struct Child {
    int pid = -1;
    size_t number = 0;
    int out = -1, err = -1;  ///< files in memory
  };
  Ended end(const Child& child, int status) const;

  size_t most_;
  std::vector<Child> children_;
  sigset_t mask_before_{};
};

}  // namespace weft::sweep

#endif
