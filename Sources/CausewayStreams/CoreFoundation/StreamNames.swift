public import Causeway
public import Dispatch
public import Foundation

// Names of Core Foundation for streams. On Apple platforms these types are bridged to Foundation's; here they are the same types.

/// An input stream.
public typealias CFReadStream = InputStream
/// An output stream.
public typealias CFWriteStream = OutputStream
/// The name of a stream's property.
public typealias CFStreamPropertyKey = Stream.PropertyKey
/// A socket's descriptor.
public typealias CFSocketNativeHandle = Int32

/// Yes, as a property's value.
public var kCFBooleanTrue: NSNumber { NSNumber(value: true) }
/// No, as a property's value.
public var kCFBooleanFalse: NSNumber { NSNumber(value: false) }

/// Whether closing the streams over a socket closes the socket; see ``Foundation/Stream/PropertyKey/shouldCloseNativeSocket``.
public let kCFStreamPropertyShouldCloseNativeSocket: CFString = Stream.PropertyKey.shouldCloseNativeSocket.rawValue
/// The socket below; see ``Foundation/Stream/PropertyKey/socketNativeHandle``.
public let kCFStreamPropertySocketNativeHandle: CFString = Stream.PropertyKey.socketNativeHandle.rawValue
/// Whether cellular networks are prohibited; see ``Foundation/Stream/PropertyKey/noCellular``.
public let kCFStreamPropertyNoCellular: CFString = Stream.PropertyKey.noCellular.rawValue
/// Whether expensive networks are allowed; see ``Foundation/Stream/PropertyKey/allowExpensiveNetworkAccess``.
public let kCFStreamPropertyAllowExpensiveNetworkAccess: CFString =
    Stream.PropertyKey.allowExpensiveNetworkAccess.rawValue
/// Whether networks in low-data mode are allowed; see ``Foundation/Stream/PropertyKey/allowConstrainedNetworkAccess``.
public let kCFStreamPropertyAllowConstrainedNetworkAccess: CFString =
    Stream.PropertyKey.allowConstrainedNetworkAccess.rawValue
/// Settings of TLS; see ``Foundation/Stream/PropertyKey/tlsSettings``.
public let kCFStreamPropertySSLSettings: CFString = Stream.PropertyKey.tlsSettings.rawValue
/// The name that the peer's certificate has to be for.
public let kCFStreamSSLPeerName: CFString = "kCFStreamSSLPeerName"
/// Whether the peer's certificates are judged.
public let kCFStreamSSLValidatesCertificateChain: CFString = "kCFStreamSSLValidatesCertificateChain"

/// Makes a pair of streams over a connected socket, such as one that `accept(2)` returned.
///
/// Closing the streams leaves the socket open, and both its directions, unless
/// ``kCFStreamPropertyShouldCloseNativeSocket`` is set to true on either of them. TLS is not available over such a pair.
///
/// Counterpart: macOS 10.1, iOS 2.
///
/// - Parameters:
///   - alloc: Without effect.
///   - sock: A connected stream socket. It must stay open while the streams are.
///   - readStream: Set to what reads, retained; `nil` if it is not wanted.
///   - writeStream: Set to what writes, retained; `nil` if it is not wanted.
public func CFStreamCreatePairWithSocket(
    _ alloc: CFAllocator?, _ sock: CFSocketNativeHandle, _ readStream: UnsafeMutablePointer<Unmanaged<CFReadStream>?>?,
    _ writeStream: UnsafeMutablePointer<Unmanaged<CFWriteStream>?>?
) {
    let (input, output) = Stream.streams(overSocket: sock, closingSocket: false)
    // One that is not wanted must not keep the other from being the last.
    if let readStream { readStream.pointee = .passRetained(input) } else { input.close() }
    if let writeStream { writeStream.pointee = .passRetained(output) } else { output.close() }
}

/// Makes a pair of streams to a port of a host, as
/// ``Foundation/Stream/getStreamsToHost(withName:port:inputStream:outputStream:)`` does.
///
/// Counterpart: macOS 10.1, iOS 2.
///
/// - Parameter alloc: Without effect.
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

/// Sets a property of an input stream, before it is opened.
///
/// - Returns: Whether the property is known, and the value makes sense.
///
/// Counterpart: macOS 10.1, iOS 2.
@discardableResult
public func CFReadStreamSetProperty(
    _ stream: CFReadStream, _ propertyName: CFStreamPropertyKey, _ propertyValue: CFTypeRef?
) -> Bool {
    stream.setProperty(propertyValue, forKey: propertyName)
}

/// Sets a property of an output stream, before it is opened.
///
/// - Returns: Whether the property is known, and the value makes sense.
///
/// Counterpart: macOS 10.1, iOS 2.
@discardableResult
public func CFWriteStreamSetProperty(
    _ stream: CFWriteStream, _ propertyName: CFStreamPropertyKey, _ propertyValue: CFTypeRef?
) -> Bool {
    stream.setProperty(propertyValue, forKey: propertyName)
}

/// Calls the delegate on a queue, as ``Foundation/Stream/schedule(on:)`` does.
///
/// Counterpart: macOS 10.9, iOS 7.
public func CFReadStreamSetDispatchQueue(_ stream: CFReadStream, _ q: DispatchQueue?) { stream.schedule(on: q) }

/// Calls the delegate on a queue, as ``Foundation/Stream/schedule(on:)`` does.
///
/// Counterpart: macOS 10.9, iOS 7.
public func CFWriteStreamSetDispatchQueue(_ stream: CFWriteStream, _ q: DispatchQueue?) { stream.schedule(on: q) }

/// Calls the delegate in a run loop.
///
/// Counterpart: macOS 10.1, iOS 2.
public func CFReadStreamScheduleWithRunLoop(
    _ stream: CFReadStream, _ runLoop: CFRunLoop, _ runLoopMode: CFRunLoopMode
) {
    stream.schedule(in: runLoop.runLoop, forMode: RunLoop.Mode(rawValue: runLoopMode.rawValue))
}

/// Calls the delegate in a run loop.
///
/// Counterpart: macOS 10.1, iOS 2.
public func CFWriteStreamScheduleWithRunLoop(
    _ stream: CFWriteStream, _ runLoop: CFRunLoop, _ runLoopMode: CFRunLoopMode
) {
    stream.schedule(in: runLoop.runLoop, forMode: RunLoop.Mode(rawValue: runLoopMode.rawValue))
}

/// Opens an input stream.
///
/// - Returns: `true`; whether it succeeds is an event.
///
/// Counterpart: macOS 10.1, iOS 2.
@discardableResult
public func CFReadStreamOpen(_ stream: CFReadStream) -> Bool {
    stream.open()
    return true
}

/// Opens an output stream.
///
/// - Returns: `true`; whether it succeeds is an event.
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

/// Reads what is there, at most `bufferLength` bytes; blocks until something is.
///
/// - Returns: How many bytes were read; 0 at the end, -1 after an error.
///
/// Counterpart: macOS 10.1, iOS 2.
public func CFReadStreamRead(_ stream: CFReadStream, _ buffer: UnsafeMutablePointer<UInt8>, _ bufferLength: Int) -> Int
{
    stream.read(buffer, maxLength: bufferLength)
}

/// Writes what there is room for, at most `bufferLength` bytes; blocks until there is room.
///
/// - Returns: How many bytes were taken; -1 after an error.
///
/// Counterpart: macOS 10.1, iOS 2.
public func CFWriteStreamWrite(_ stream: CFWriteStream, _ buffer: UnsafePointer<UInt8>, _ bufferLength: Int) -> Int {
    stream.write(buffer, maxLength: bufferLength)
}
