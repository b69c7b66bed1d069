internal import CausewaySystem
internal import FoundationEssentials

/// A write that the current thread must perform. No other thread writes before this write has ended.
///
/// The plan retains the content, so that the addresses of its bytes stay valid.
struct WritePlan {
    enum Content {
        case single(Data, from: Int)
        case gathered([Data], from: Int)
        case end
        case datagrams(DatagramPlan)
    }

    var transport: Transport
    var content: Content
    /// The number of bytes that the write passes to the kernel.
    var byteCount = 0

    func perform() -> IOResult {
        switch content {
        case .single(let data, let offset):
            return data.withUnsafeBytes { transport.write(single: UnsafeRawBufferPointer(rebasing: $0[offset...])) }
        case .gathered(let contents, let offset):
            return withPieces(contents, from: offset) { transport.write($0) }
        case .end:
            let code = transport.shutdownWrite()
            // ENOTCONN means that the connection has already ended. Do not report it here, because the next read
            // reports the reason.
            return code == 0 || code == Errno.notConnected ? .moved(0) : .failed(code)
        case .datagrams(let plan):
            return plan.perform(transport)
        }
    }
}

extension iovec {
    init(rebasing bytes: UnsafeRawBufferPointer, from offset: Int = 0) {
        self.init(
            iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress.map { $0 + offset }),
            iov_len: bytes.count - offset)
    }
}

/// Calls `body` with pointers to the bytes of all elements of `contents`.
///
/// Each pointer comes from a closure, and is valid only inside this closure. The closures are nested, and the innermost
/// closure calls `body`. So all pointers are valid in `body`.
func withPieces<R>(_ contents: [Data], from offset: Int, _ body: (UnsafeBufferPointer<iovec>) -> R) -> R {
    withUnsafeTemporaryAllocation(of: iovec.self, capacity: contents.count) { pieces in
        func descend(_ index: Int) -> R {
            if index == contents.count { return body(UnsafeBufferPointer(pieces)) }
            return contents[index].withUnsafeBytes { bytes in
                pieces.initializeElement(at: index, to: iovec(rebasing: bytes, from: index == 0 ? offset : 0))
                return descend(index + 1)
            }
        }
        return descend(0)
    }
}
