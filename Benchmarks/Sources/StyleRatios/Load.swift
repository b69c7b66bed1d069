import Glibc

/// What drives every server in the same way.
enum Load {
    /// Sends 64 octets on each of `connections` in turn and waits for all the echoes, `rounds` times over. Returns seconds.
    static func pingPong(port: UInt16, connections: Int, rounds: Int) -> Double {
        let sockets = (0..<connections).map { _ in RawSocket.connect(to: port) }
        defer { for fd in sockets { close(fd) } }
        let block = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)
        block.initializeMemory(as: UInt8.self, repeating: 7, count: 64)
        defer { block.deallocate() }
        return seconds {
            for _ in 0..<rounds {
                for fd in sockets { _ = send(fd, block, 64, CInt(MSG_NOSIGNAL.rawValue)) }
                for fd in sockets {
                    guard recv(fd, block, 64, CInt(MSG_WAITALL.rawValue)) == 64 else { fatal("the echo is short") }
                }
            }
        }
    }

    /// Sends blocks until `byteCount` octets are gone and the server has closed its side. Returns seconds.
    static func bulk(port: UInt16, byteCount: Int) -> Double {
        let fd = RawSocket.connect(to: port)
        defer { close(fd) }
        let length = 256 << 10
        let block = UnsafeMutableRawPointer.allocate(byteCount: length, alignment: 16)
        block.initializeMemory(as: UInt8.self, repeating: 7, count: length)
        defer { block.deallocate() }
        return seconds {
            var left = byteCount
            while left > 0 {
                let sent = send(fd, block, min(left, length), CInt(MSG_NOSIGNAL.rawValue))
                guard sent > 0 else { fatal("the server is gone") }
                left -= sent
            }
            shutdown(fd, CInt(SHUT_WR))
            // The server closes when it has read everything.
            while recv(fd, block, length, 0) > 0 {}
        }
    }

    private static func seconds(_ body: () -> Void) -> Double {
        let clock = ContinuousClock()
        let (whole, atto) = clock.measure(body).components
        return Double(whole) + Double(atto) / 1e18
    }

    private static func fatal(_ text: String) -> Never {
        print(text)
        exit(1)
    }
}
