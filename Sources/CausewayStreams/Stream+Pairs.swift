public import Causeway
public import Dispatch
public import Foundation

extension Stream {
    /// Creates a pair of streams to a host and port. Opening either stream starts the connection.
    ///
    /// Each direction buffers up to 64 KiB; when a buffer is full, the program or the peer must wait before it can
    /// write more. Closing the output stream ends the sending direction after all written content is sent; closing both
    /// streams ends the connection. A read blocks until at least one byte is available, and a write until at least one
    /// byte fits.
    ///
    /// Counterpart: `Stream.getStreamsToHost(withName:port:inputStream:outputStream:)`, macOS 10.10, iOS 8.
    ///
    /// - Parameters:
    ///   - hostname: A name or an address.
    ///   - port: 1 to 65,535; for other values no streams are created.
    ///   - inputStream: Receives the input stream.
    ///   - outputStream: Receives the output stream.
    public class func getStreamsToHost(
        withName hostname: String, port: Int, inputStream: inout InputStream?, outputStream: inout OutputStream?
    ) {
        (inputStream, outputStream) = (nil, nil)
        guard let number = UInt16(exactly: port), number > 0, !hostname.isEmpty,
            let port = NWEndpoint.Port(rawValue: number)
        else { return }
        (inputStream, outputStream) = streams(to: .hostPort(host: NWEndpoint.Host(hostname), port: port))
    }

    /// Creates a pair of streams to any endpoint. The connection must use a stream protocol such as TCP.
    ///
    /// An addition of Causeway.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint to connect to.
    ///   - parameters: The connection's parameters, copied by this call. They may include TLS; stream properties can
    ///     also enable TLS.
    public class func streams(
        to endpoint: NWEndpoint, using parameters: NWParameters? = nil
    ) -> (input: InputStream, output: OutputStream) {
        streams(.endpoint(endpoint, parameters?.copy()))
    }

    /// Creates a pair of streams for a connection that was not started, such as a connection from a listener. After the
    /// call, the streams own the connection.
    ///
    /// An addition of Causeway.
    public class func streams(over connection: NWConnection) -> (input: InputStream, output: OutputStream) {
        streams(.connection(connection))
    }

    /// Creates a bound stream pair: the input stream reads the bytes written to the output stream.
    ///
    /// Counterpart: `Stream.getBoundStreams(withBufferSize:inputStream:outputStream:)`, macOS 10.10, iOS 8.
    ///
    /// - Parameters:
    ///   - bufferSize: Maximum number of unread bytes.
    ///   - inputStream: Receives the input stream.
    ///   - outputStream: Receives the output stream.
    public class func getBoundStreams(
        withBufferSize bufferSize: Int, inputStream: inout InputStream?, outputStream: inout OutputStream?
    ) {
        let pipe = BytePipe(capacity: bufferSize)
        let link = BoundLink(pipe: pipe)
        inputStream = PipedInputStream(StreamCore(.input, pipe, link))
        outputStream = PipedOutputStream(StreamCore(.output, pipe, link))
    }

    /// Sets the queue on which the delegate is called, instead of a run loop; `nil` removes the queue. Has no effect on
    /// streams of other modules.
    ///
    /// Counterpart: `CFReadStreamSetDispatchQueue` and `CFWriteStreamSetDispatchQueue`, macOS 10.9, iOS 7.
    ///
    /// - Returns: Whether the stream belongs to this module.
    @discardableResult
    public func schedule(on queue: DispatchQueue?) -> Bool {
        guard let core = (self as? PipedInputStream)?.core ?? (self as? PipedOutputStream)?.core else { return false }
        core.schedule(on: queue)
        return true
    }

    /// Closes the stream, and calls `body` when the written content was sent or can no longer be sent. If the program
    /// exits earlier, content may be lost. Only output streams of this module wait for their content; for other
    /// streams, `body` is called immediately.
    ///
    /// An addition of Causeway.
    ///
    /// - Parameter body: Called once, on any thread.
    public func close(whenSent body: @escaping @Sendable () -> Void) {
        close()
        guard let core = (self as? PipedOutputStream)?.core else { return body() }
        core.link.whenEnded(body)
    }

    private class func streams(_ target: ConnectionLink.Target) -> (input: InputStream, output: OutputStream) {
        let link = ConnectionLink(target)
        return (
            PipedInputStream(StreamCore(.input, link.inbound, link)),
            PipedOutputStream(StreamCore(.output, link.outbound, link))
        )
    }
}

extension Stream.PropertyKey {
    /// The `NWProtocolTLS.Options` for the streams' connection. Setting this property enables TLS. An addition of
    /// Causeway.
    public static let tlsOptions = Stream.PropertyKey(rawValue: "CausewayStreamPropertyTLSOptions")
    /// A dictionary with `kCFStreamSSLPeerName` (a `String`) and `kCFStreamSSLValidatesCertificateChain` (a `Bool`). Other keys are
    /// rejected.
    ///
    /// Counterpart: `kCFStreamPropertySSLSettings`, macOS 10.4, iOS 2.
    public static let tlsSettings = Stream.PropertyKey(rawValue: "kCFStreamPropertySSLSettings")
}
