public import Causeway
public import Dispatch
public import Foundation

// Core Foundation names for streams. Apple platforms bridge these types to Foundation's; here they are the same types.

/// An input stream.
public typealias CFReadStream = InputStream
/// An output stream.
public typealias CFWriteStream = OutputStream
/// A stream property key.
public typealias CFStreamPropertyKey = Stream.PropertyKey
/// A socket descriptor.
public typealias CFSocketNativeHandle = Int32

/// The property value true.
public var kCFBooleanTrue: NSNumber { NSNumber(value: true) }
/// The property value false.
public var kCFBooleanFalse: NSNumber { NSNumber(value: false) }

/// Whether closing a socket's streams closes the socket; see ``Foundation/Stream/PropertyKey/shouldCloseNativeSocket``.
public let kCFStreamPropertyShouldCloseNativeSocket: CFString = Stream.PropertyKey.shouldCloseNativeSocket.rawValue
/// The underlying socket; see ``Foundation/Stream/PropertyKey/socketNativeHandle``.
public let kCFStreamPropertySocketNativeHandle: CFString = Stream.PropertyKey.socketNativeHandle.rawValue
/// Whether cellular networks are prohibited; see ``Foundation/Stream/PropertyKey/noCellular``.
public let kCFStreamPropertyNoCellular: CFString = Stream.PropertyKey.noCellular.rawValue
/// Whether expensive networks are allowed; see ``Foundation/Stream/PropertyKey/allowExpensiveNetworkAccess``.
public let kCFStreamPropertyAllowExpensiveNetworkAccess: CFString =
    Stream.PropertyKey.allowExpensiveNetworkAccess.rawValue
/// Whether networks in low-data mode are allowed; see ``Foundation/Stream/PropertyKey/allowConstrainedNetworkAccess``.
public let kCFStreamPropertyAllowConstrainedNetworkAccess: CFString =
    Stream.PropertyKey.allowConstrainedNetworkAccess.rawValue
/// TLS settings; see ``Foundation/Stream/PropertyKey/tlsSettings``.
public let kCFStreamPropertySSLSettings: CFString = Stream.PropertyKey.tlsSettings.rawValue
/// The required name in the peer's certificate.
public let kCFStreamSSLPeerName: CFString = "kCFStreamSSLPeerName"
/// Whether to validate the peer's certificate chain.
public let kCFStreamSSLValidatesCertificateChain: CFString = "kCFStreamSSLValidatesCertificateChain"

/// Creates a pair of streams for a connected socket, for example from `accept(2)`.
///
/// Closing the streams leaves the socket open in both directions, unless ``kCFStreamPropertyShouldCloseNativeSocket`` is set to true on
/// either stream. TLS is not available for such a pair.
///
/// Counterpart: macOS 10.1, iOS 2.
///
/// - Parameters:
///   - alloc: Has no effect.
///   - sock: A connected stream socket. It must stay open while the streams are in use.
///   - readStream: Receives the input stream, retained; pass `nil` if it is not needed.
///   - writeStream: Receives the output stream, retained; pass `nil` if it is not needed.
public func CFStreamCreatePairWithSocket(
    _ alloc: CFAllocator?, _ sock: CFSocketNativeHandle, _ readStream: UnsafeMutablePointer<Unmanaged<CFReadStream>?>?,
    _ writeStream: UnsafeMutablePointer<Unmanaged<CFWriteStream>?>?
) {
    let (input, output) = Stream.streams(overSocket: sock, closingSocket: false)
    // The caller may want only one of the two streams. Close the other stream here. If it stayed open, the object that
    // connects both streams to the socket would not end when the caller closes its stream.
    if let readStream { readStream.pointee = .passRetained(input) } else { input.close() }
    if let writeStream { writeStream.pointee = .passRetained(output) } else { output.close() }
}

/// Creates a pair of streams to a host and port, like ``Foundation/Stream/getStreamsToHost(withName:port:inputStream:outputStream:)``.
///
/// Counterpart: macOS 10.1, iOS 2.
///
/// - Parameters:
///   - alloc: Has no effect.
///   - host: A name or an address.
///   - port: 1 to 65,535; for other values no streams are created.
///   - readStream: Receives the input stream, retained; pass `nil` if it is not needed.
///   - writeStream: Receives the output stream, retained; pass `nil` if it is not needed.
public func CFStreamCreatePairWithSocketToHost(
    _ alloc: CFAllocator?, _ host: CFString, _ port: UInt32,
    _ readStream: UnsafeMutablePointer<Unmanaged<CFReadStream>?>?,
    _ writeStream: UnsafeMutablePointer<Unmanaged<CFWriteStream>?>?
) {
    var (input, output): (InputStream?, OutputStream?) = (nil, nil)
    Stream.getStreamsToHost(withName: host, port: Int(port), inputStream: &input, outputStream: &output)
    readStream?.pointee = input.map { .passRetained($0) }
    writeStream?.pointee = output.map { .passRetained($0) }
}

/// Sets a property of an input stream. Call before opening the stream.
///
/// - Returns: Whether the property is known and the value is valid.
///
/// Counterpart: macOS 10.1, iOS 2.
@discardableResult
public func CFReadStreamSetProperty(
    _ stream: CFReadStream, _ propertyName: CFStreamPropertyKey, _ propertyValue: CFTypeRef?
) -> Bool {
    stream.setProperty(propertyValue, forKey: propertyName)
}

/// Sets a property of an output stream. Call before opening the stream.
///
/// - Returns: Whether the property is known and the value is valid.
///
/// Counterpart: macOS 10.1, iOS 2.
@discardableResult
public func CFWriteStreamSetProperty(
    _ stream: CFWriteStream, _ propertyName: CFStreamPropertyKey, _ propertyValue: CFTypeRef?
) -> Bool {
    stream.setProperty(propertyValue, forKey: propertyName)
}

/// Sets the queue on which the delegate is called, like ``Foundation/Stream/schedule(on:)``.
///
/// Counterpart: macOS 10.9, iOS 7.
public func CFReadStreamSetDispatchQueue(_ stream: CFReadStream, _ q: DispatchQueue?) { stream.schedule(on: q) }

/// Sets the queue on which the delegate is called, like ``Foundation/Stream/schedule(on:)``.
///
/// Counterpart: macOS 10.9, iOS 7.
public func CFWriteStreamSetDispatchQueue(_ stream: CFWriteStream, _ q: DispatchQueue?) { stream.schedule(on: q) }

/// Adds a run loop in which the delegate is called.
///
/// Counterpart: macOS 10.1, iOS 2.
public func CFReadStreamScheduleWithRunLoop(
    _ stream: CFReadStream, _ runLoop: CFRunLoop, _ runLoopMode: CFRunLoopMode
) {
    stream.schedule(in: runLoop.runLoop, forMode: RunLoop.Mode(rawValue: runLoopMode.rawValue))
}

/// Adds a run loop in which the delegate is called.
///
/// Counterpart: macOS 10.1, iOS 2.
public func CFWriteStreamScheduleWithRunLoop(
    _ stream: CFWriteStream, _ runLoop: CFRunLoop, _ runLoopMode: CFRunLoopMode
) {
    stream.schedule(in: runLoop.runLoop, forMode: RunLoop.Mode(rawValue: runLoopMode.rawValue))
}

/// Opens an input stream.
///
/// - Returns: Always `true`; an event reports the result.
///
/// Counterpart: macOS 10.1, iOS 2.
@discardableResult
public func CFReadStreamOpen(_ stream: CFReadStream) -> Bool {
    stream.open()
    return true
}

/// Opens an output stream.
///
/// - Returns: Always `true`; an event reports the result.
///
/// Counterpart: macOS 10.1, iOS 2.
@discardableResult
public func CFWriteStreamOpen(_ stream: CFWriteStream) -> Bool {
    stream.open()
    return true
}

/// Closes an input stream.
///
/// Counterpart: macOS 10.1, iOS 2.
public func CFReadStreamClose(_ stream: CFReadStream) { stream.close() }

/// Closes an output stream.
///
/// Counterpart: macOS 10.1, iOS 2.
public func CFWriteStreamClose(_ stream: CFWriteStream) { stream.close() }

/// Reads available bytes, at most `bufferLength`. Blocks until at least one byte is available.
///
/// - Returns: The number of bytes read; 0 at the end, -1 after an error.
///
/// Counterpart: macOS 10.1, iOS 2.
public func CFReadStreamRead(_ stream: CFReadStream, _ buffer: UnsafeMutablePointer<UInt8>, _ bufferLength: Int) -> Int
{
    stream.read(buffer, maxLength: bufferLength)
}

/// Writes as many bytes as fit, at most `bufferLength`. Blocks until at least one byte fits.
///
/// - Returns: The number of bytes written; -1 after an error.
///
/// Counterpart: macOS 10.1, iOS 2.
public func CFWriteStreamWrite(_ stream: CFWriteStream, _ buffer: UnsafePointer<UInt8>, _ bufferLength: Int) -> Int {
    stream.write(buffer, maxLength: bufferLength)
}
