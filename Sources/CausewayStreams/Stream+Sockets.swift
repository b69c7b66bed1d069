public import Foundation

extension Stream {
    /// Creates a pair of streams for a connected socket, for example from `accept(2)`.
    ///
    /// The streams may be opened in any order. Closing the output stream sends the written content first. TLS is not
    /// available for such a pair.
    ///
    /// If the streams own the socket, closing the output stream also ends the sending direction. The socket is closed
    /// when both streams are closed. If the streams do not own the socket, it stays open in both directions.
    ///
    /// An addition of Causeway.
    ///
    /// - Parameters:
    ///   - descriptor: A connected stream socket, blocking or not. It must stay open while the streams are in use.
    ///   - closingSocket: Whether the streams own the socket. The property
    ///     ``Foundation/Stream/PropertyKey/shouldCloseNativeSocket`` can change this later.
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
    /// A Boolean: whether closing the streams closes their socket. It can be set at any time before the streams are
    /// closed. Only streams for a socket have this property.
    ///
    /// Counterpart: `kCFStreamPropertyShouldCloseNativeSocket`, macOS 10.2, iOS 2.
    public static let shouldCloseNativeSocket = Stream.PropertyKey(rawValue: "kCFStreamPropertyShouldCloseNativeSocket")
    /// `Data` with the descriptor of the underlying socket, in host byte order. Only streams for a socket have this
    /// property.
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
