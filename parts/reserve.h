// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A process in reserve: a copy of this one as it was before any module existed. It takes over when parts
// cannot do what one process can.

#ifndef WEFT_PARTS_RESERVE_H
#define WEFT_PARTS_RESERVE_H

#include <sys/types.h>

#include <functional>
#include <string>

namespace weft::parts {

class Reserve {
 public:
  Reserve() = default;
  /// Ends the process, if it was not needed.
  ~Reserve();
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;

  /// Makes the process. There it returns when start() is called, and answers why; here it answers nothing.
  /// Throws UserError.
  std::string make();
  /// Lets it go on, and waits for its end. `stop`: a signal to be passed on; 0: none. Answers its exit code.
  /// Throws UserError: it is gone.
  int start(const std::string& why, const std::function<int()>& stop);
  /// In a process that was forked from this one: the reserve is another's.
  void disown();

 private:
  pid_t process_ = 0;
  int to_it_ = -1;
};

}  // namespace weft::parts

#endif
