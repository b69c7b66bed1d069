public import Causeway
public import Dispatch
public import Foundation

extension Stream {
    /// Makes a pair of streams to a port of a host. Opening either of them connects.
    ///
    /// What is written before the peer takes it is held up to 64 KiB, and so is what was received and not read: beyond that the
    /// writer, or the peer, waits. Closing the output stream ends that direction behind what was written; closing both ends the
    /// connection. Until a stream is scheduled, its reads and writes block.
    ///
    /// Counterpart: `Stream.getStreamsToHost(withName:port:inputStream:outputStream:)`, macOS 10.10, iOS 8.
    ///
    /// - Parameters:
    ///   - hostname: A name or an address.
    ///   - port: 1 to 65,535; with others there are no streams.
    ///   - inputStream: Set to what reads.
    ///   - outputStream: Set to what writes.
    public class func getStreamsToHost(
        withName hostname: String, port: Int, inputStream: inout InputStream?, outputStream: inout OutputStream?
    ) {
        (inputStream, outputStream) = (nil, nil)
        guard let number = UInt16(exactly: port), number > 0, !hostname.isEmpty,
            let port = NWEndpoint.Port(rawValue: number)
        else { return }
        (inputStream, outputStream) = streams(to: .hostPort(host: NWEndpoint.Host(hostname), port: port))
    }

    /// Makes a pair of streams to any endpoint of a stream protocol.
    ///
    /// An addition of Causeway.
    ///
    /// - Parameter parameters: Of the connection, copied when it is made. TLS may be among them, or be asked for by properties.
    public class func streams(
        to endpoint: NWEndpoint, using parameters: NWParameters? = nil
    ) -> (input: InputStream, output: OutputStream) {
        streams(.endpoint(endpoint, parameters?.copy()))
    }

    /// Makes a pair of streams over a connection that was not started, such as one from a listener. The streams own it from now on.
    ///
    /// An addition of Causeway.
    public class func streams(over connection: NWConnection) -> (input: InputStream, output: OutputStream) {
        streams(.connection(connection))
    }

    /// Makes a pair of streams, of which the input stream reads what is written to the output stream.
    ///
    /// Counterpart: `Stream.getBoundStreams(withBufferSize:inputStream:outputStream:)`, macOS 10.10, iOS 8.
    ///
    /// - Parameters:
    ///   - bufferSize: The most bytes that are written and not read.
    ///   - inputStream: Set to what reads.
    ///   - outputStream: Set to what writes.
    public class func getBoundStreams(
        withBufferSize bufferSize: Int, inputStream: inout InputStream?, outputStream: inout OutputStream?
    ) {
        let pipe = BytePipe(capacity: bufferSize)
        let link = BoundLink(pipe: pipe)
        inputStream = PipedInputStream(StreamCore(.input, pipe, link))
        outputStream = PipedOutputStream(StreamCore(.output, pipe, link))
    }

    /// Calls the delegate on a queue, instead of in a run loop; `nil` ends that. Only for streams of this module.
    ///
    /// Counterpart: `CFReadStreamSetDispatchQueue` and `CFWriteStreamSetDispatchQueue`, macOS 10.9, iOS 7.
    ///
    /// - Returns: Whether the stream is one of this module.
    @discardableResult
    public func schedule(on queue: DispatchQueue?) -> Bool {
        guard let core = (self as? PipedInputStream)?.core ?? (self as? PipedOutputStream)?.core else { return false }
        core.schedule(on: queue)
        return true
    }

    /// Closes the stream, and calls `body` when what was written to it has left this process, or never will: a program that ends
    /// before may lose it. Only for streams of this module; of others it is called at once.
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
    /// `NWProtocolTLS.Options` for the streams' connection: they turn TLS on. An addition of Causeway.
    public static let tlsOptions = Stream.PropertyKey(rawValue: "CausewayStreamPropertyTLSOptions")
    /// A dictionary with `kCFStreamSSLPeerName` (a `String`) and `kCFStreamSSLValidatesCertificateChain` (a `Bool`); others are refused.
    ///
    /// Counterpart: `kCFStreamPropertySSLSettings`, macOS 10.4, iOS 2.
    public static let tlsSettings = Stream.PropertyKey(rawValue: "kCFStreamPropertySSLSettings")
}
