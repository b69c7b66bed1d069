internal import CausewaySystem

/// Sends packets as they are, many at a time.
///
/// ```swift
/// var injector = try PacketInjector(interface: "eth0")
/// for frame in frames { try injector.add(frame) }
/// try injector.flush()
/// ```
///
/// A value is used by one thread at a time. What the kernel has no room for is waited for, so nothing is lost here. Needs `CAP_NET_RAW`.
public struct PacketInjector: ~Copyable {
    private let socket: Descriptor
    private let interface: String
    private var bytes: [UInt8] = []
    private var lengths: [Int] = []
    /// Packets that the kernel has taken.
    public private(set) var sent = 0

    /// Packets that are collected before the kernel is called.
    private static let maximum = 64

    /// - Parameter interface: Where frames leave. They begin with the header of its link.
    /// - Throws: ``CaptureError`` where there is no such interface, or this process may not send frames.
    public init(interface: String) throws(CaptureError) {
        let index = PacketSockets.index(of: interface)
        guard index != 0 else {
            throw CaptureError(.noSuchInterface, "there is no interface \(interface); nw interfaces lists them")
        }
        do { socket = try PacketSockets.frames(interface: index) } catch {
            throw CaptureError("sending on \(interface) failed", error)
        }
        PacketSockets.sendAtOnce(socket.rawValue)
        self.interface = interface
        bytes.reserveCapacity(Self.maximum * 1514)
    }

    /// Takes a packet, and sends what was collected when that is enough.
    ///
    /// - Throws: ``CaptureError`` where the interface is gone or refuses a packet, as one that is too long for it.
    public mutating func add(_ packet: Span<UInt8>) throws(CaptureError) {
        packet.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        lengths.append(packet.count)
        if lengths.count == Self.maximum { try flush() }
    }

    /// Sends what was collected.
    public mutating func flush() throws(CaptureError) {
        defer {
            bytes.removeAll(keepingCapacity: true)
            lengths.removeAll(keepingCapacity: true)
        }
        do throws(SystemError) { sent += try Self.send(socket.rawValue, &bytes, lengths) } catch {
            throw CaptureError("sending on \(interface) failed", error)
        }
    }

    private static func send(
        _ fd: CInt, _ bytes: inout [UInt8], _ lengths: [Int]
    ) throws(SystemError) -> Int {
        let result: Result<Int, SystemError> = bytes.withUnsafeMutableBytes { bytes in
            do throws(SystemError) { return .success(try PacketSockets.sendFrames(fd, bytes, lengths)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
