internal import CausewaySystem

/// Sends frames on an interface, in batches.
///
/// ```swift
/// var injector = try PacketInjector(interface: "eth0")
/// for frame in frames { try injector.add(frame) }
/// try injector.flush()
/// ```
///
/// Use a value from one thread at a time. If the kernel has no buffer space, sending blocks, and throws after one
/// second without progress. Requires `CAP_NET_RAW`.
public struct PacketInjector: ~Copyable {
    private let socket: Descriptor
    private let interface: String
    private var bytes: [UInt8] = []
    private var lengths: [Int] = []
    /// Number of packets accepted by the kernel. If the kernel rejects one packet in a batch, the earlier packets in
    /// the batch are still counted.
    public private(set) var sent = 0

    /// Maximum number of packets per batch.
    private static let maximum = 64

    /// Opens an interface for sending frames.
    ///
    /// - Parameter interface: The interface to send on. Frames begin with the link header of this interface.
    /// - Throws: ``CaptureError`` if there is no such interface, or this process may not send frames.
    public init(interface: String) throws(CaptureError) {
        let index = PacketSockets.index(of: interface)
        guard index != 0 else {
            throw CaptureError(
                .noSuchInterface, "no interface is named \(interface); nw interfaces lists the interfaces")
        }
        do { socket = try PacketSockets.frames(interface: index) } catch {
            throw CaptureError("sending on \(interface) failed", error)
        }
        PacketSockets.sendAtOnce(socket.rawValue)
        self.interface = interface
        bytes.reserveCapacity(Self.maximum * 1514)
    }

    /// Adds a packet to the batch. When the batch has 64 packets, this method sends it.
    ///
    /// - Throws: ``CaptureError`` if the interface was removed or rejects a packet, for example one that exceeds the
    ///   MTU.
    public mutating func add(_ packet: Span<UInt8>) throws(CaptureError) {
        packet.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        lengths.append(packet.count)
        if lengths.count == Self.maximum { try flush() }
    }

    /// Sends the batch and empties it, also after an error. If a packet is rejected, the packets after it are not sent.
    ///
    /// - Throws: ``CaptureError`` if the interface was removed or rejects a packet.
    public mutating func flush() throws(CaptureError) {
        defer {
            bytes.removeAll(keepingCapacity: true)
            lengths.removeAll(keepingCapacity: true)
        }
        do throws(SystemError) { try Self.send(socket.rawValue, &bytes, lengths, sent: &sent) } catch {
            throw CaptureError("sending on \(interface) failed", error)
        }
    }

    private static func send(
        _ fd: CInt, _ bytes: inout [UInt8], _ lengths: [Int], sent: inout Int
    ) throws(SystemError) {
        let failure: SystemError? = bytes.withUnsafeMutableBytes { bytes in
            do throws(SystemError) {
                try PacketSockets.sendFrames(fd, bytes, lengths, sent: &sent)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }
}
