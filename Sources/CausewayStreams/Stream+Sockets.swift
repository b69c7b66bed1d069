public import Foundation

extension Stream {
    /// Makes a pair of streams over a connected socket, such as one that `accept(2)` returned.
    ///
    /// Either may be opened first. Closing the output stream sends what was written; where the streams own the socket, the peer then
    /// sees the end of that direction, and the socket is closed once both streams are. Where they do not, the socket and both its
    /// directions stay as they are. TLS is not available over such a pair.
    ///
    /// An addition of Causeway.
    ///
    /// - Parameters:
    ///   - descriptor: A connected stream socket, blocking or not. It must stay open while the streams are.
    ///   - closingSocket: Whether the streams own the socket. ``Foundation/Stream/PropertyKey/shouldCloseNativeSocket`` changes it.
    public class func streams(
        overSocket descriptor: Int32, closingSocket: Bool
    ) -> (input: InputStream, output: OutputStream) {
        let link = SocketLink(descriptor, closesSocket: closingSocket)
        return (
            PipedInputStream(StreamCore(.input, link.inbound, link)),
            PipedOutputStream(StreamCore(.output, link.outbound, link))
        )
    }
}

extension Stream.PropertyKey {
    /// A Boolean: whether closing the streams over a socket closes it. It may be set at any time before. Only for streams over a socket.
    ///
    /// Counterpart: `kCFStreamPropertyShouldCloseNativeSocket`, macOS 10.2, iOS 2.
    public static let shouldCloseNativeSocket = Stream.PropertyKey(rawValue: "kCFStreamPropertyShouldCloseNativeSocket")
    /// `Data` with the descriptor of the socket below, in the host's byte order. Only for streams over a socket.
    ///
    /// Counterpart: `kCFStreamPropertySocketNativeHandle`, macOS 10.1, iOS 2.
    public static let socketNativeHandle = Stream.PropertyKey(rawValue: "kCFStreamPropertySocketNativeHandle")
    /// A Boolean: whether cellular networks are prohibited. Set it before the streams are opened.
    ///
    /// Counterpart: `kCFStreamPropertyNoCellular`, iOS 5.
    public static let noCellular = Stream.PropertyKey(rawValue: "kCFStreamPropertyNoCellular")
    /// A Boolean: whether expensive networks are allowed. Set it before the streams are opened.
    ///
    /// Counterpart: `kCFStreamPropertyAllowExpensiveNetworkAccess`, macOS 10.15, iOS 13.
    public static let allowExpensiveNetworkAccess =
        Stream.PropertyKey(rawValue: "kCFStreamPropertyAllowExpensiveNetworkAccess")
    /// A Boolean: whether networks in low-data mode are allowed. Set it before the streams are opened.
    ///
    /// Counterpart: `kCFStreamPropertyAllowConstrainedNetworkAccess`, macOS 10.15, iOS 13.
    public static let allowConstrainedNetworkAccess =
        Stream.PropertyKey(rawValue: "kCFStreamPropertyAllowConstrainedNetworkAccess")
}
