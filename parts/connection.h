// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// TCP between the parts of a machine: frames of bytes, in order, and a clear end when the other side is gone.

#ifndef WEFT_PARTS_CONNECTION_H
#define WEFT_PARTS_CONNECTION_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::parts {

/// Where a part listens.
struct Address {
  std::string host;  ///< a name, or a number of IPv4 or IPv6
  uint16_t port = 0;
  /// "host:1234", "[::1]:1234".
  std::string text() const;
};

/// From "HOST:PORT" or "[NUMBER]:PORT". Throws UserError(usage), which names `option`.
Address parse_address(std::string_view option, const std::string& text);

enum class FrameKind : uint32_t {
  hello = 1,    ///< of a part that joins
  welcome = 2,  ///< the addresses of all
  refused = 3,  ///< why a part cannot join
  window = 4,   ///< a meeting: a word and transfers
  results = 5,  ///< Parts::gather()
  failed = 6,   ///< the sender cannot go on, and says why
  alone = 7     ///< part 0 goes on alone, and says why
};

struct Frame {
  FrameKind kind = FrameKind::hello;
  std::string bytes;
};

/// One end. Takes and gives whole frames; what is under way waits in buffers.
class Connection {
 public:
  /// Owns the socket.
  explicit Connection(int socket);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int socket() const { return socket_; }
  /// Puts a frame behind what is to be sent.
  void push(FrameKind kind, std::string_view bytes);
  bool has_output() const { return sent_ < output_.size(); }
  /// Sends, or reads, what is possible without waiting. False: the other end is gone.
  bool send_some();
  bool read_some();
  /// The oldest frame that is wholly here. Throws std::invalid_argument: these bytes are no frames.
  std::optional<Frame> take();
  /// Why the connection has ended: "Connection reset by peer", or "it was closed".
  const std::string& why() const { return why_; }

  /// Sends everything, and waits for one frame. False, or nothing: it took longer, or the other end is gone.
  bool flush(double seconds);
  std::optional<Frame> wait_for_frame(double seconds);
  /// Sends everything, and lets the other end read it before this process ends.
  void finish(double seconds);

 private:
  bool wait(short events, double until);

  int socket_;
  std::string output_;
  size_t sent_ = 0;
  std::string input_;
  size_t taken_ = 0;
  std::string why_;
};

/// Moves bytes between this process and the others until everything is sent and a whole frame of each is
/// here, or an end of one. `frames` has one entry for each connection; null ones are left out.
struct Exchanged {
  std::vector<Frame> frames;
  int lost = -1;  ///< the number of a connection that has ended before its frame
};
Exchanged exchange_frames(const std::vector<Connection*>& connections);

/// A socket that listens. `address.port` 0: any; it is filled in. Throws UserError, which names `option`.
int listen_at(std::string_view option, Address& address);
/// The next one who connects; -1: nobody, in that time.
int accept_one(int listener, double seconds);
/// Tries again until somebody listens there. Throws UserError after `seconds`.
int connect_to(std::string_view option, const Address& address, double seconds);
/// The numeric address of an end of a connection.
std::string own_host(int socket);
std::string other_host(int socket);

}  // namespace weft::parts

#endif
