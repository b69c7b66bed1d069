internal import Foundation

/// An input stream that reads from a ``BytePipe``.
final class PipedInputStream: InputStream {
    let core: StreamCore

    init(_ core: StreamCore) {
        self.core = core
        super.init(data: Data())
        core.attach(self)
    }

    deinit { core.close() }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard core.mayMove, maxLength > 0 else { return core.status == .atEnd || maxLength == 0 ? 0 : -1 }
        defer { core.touched() }
        let pipe = core.pipe
        pipe.wait { [core] in pipe.count > 0 || core.isDecided }
        let count = pipe.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: maxLength))
        if count > 0 { return count }
        return core.status == .atEnd ? 0 : -1
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override var hasBytesAvailable: Bool { core.mayMove && core.pipe.count > 0 }

    override func open() { core.open() }
    override func close() { core.close() }
    override var streamStatus: Stream.Status { core.status }
    override var streamError: (any Error)? { core.error }
    override var delegate: (any StreamDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }
    override func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) { core.schedule(in: loop, mode) }
    override func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) { core.remove(from: loop, mode) }
    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { core.link.property(key) }
    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool {
        core.link.setProperty(property, key)
    }
}

/// An output stream that writes to a ``BytePipe``.
final class PipedOutputStream: OutputStream {
    let core: StreamCore

    init(_ core: StreamCore) {
        self.core = core
        super.init(toMemory: ())
        core.attach(self)
    }

    required init(toMemory: ()) {
        // Foundation requires this initializer, but this class cannot write to memory. The created stream is therefore
        // closed from the start.
        core = StreamCore(.output, BytePipe(capacity: 1), BoundLink())
        super.init(toMemory: ())
        core.close()
    }

    deinit { core.close() }

    override func write(_ buffer: UnsafePointer<UInt8>, maxLength: Int) -> Int {
        guard core.mayMove, maxLength > 0 else { return maxLength == 0 ? 0 : -1 }
        defer { core.touched() }
        let pipe = core.pipe
        pipe.wait { [core] in core.isWritable || core.isDecided }
        guard core.isWritable else { return -1 }
        let count = pipe.write(UnsafeRawBufferPointer(start: buffer, count: maxLength))
        return count > 0 ? count : -1
    }

    override var hasSpaceAvailable: Bool { core.isWritable }

    override func open() { core.open() }
    override func close() { core.close() }
    override var streamStatus: Stream.Status { core.status }
    override var streamError: (any Error)? { core.error }
    override var delegate: (any StreamDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }
    override func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) { core.schedule(in: loop, mode) }
    override func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) { core.remove(from: loop, mode) }
    override func property(forKey key: Stream.PropertyKey) -> AnyObject? { core.link.property(key) }
    override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool {
        core.link.setProperty(property, key)
    }
}

extension StreamCore {
    /// Whether the stream is opening or open.
    fileprivate var mayMove: Bool {
        switch status {
        case .opening, .open, .reading, .writing: true
        case .notOpen, .atEnd, .closed, .error: false
        }
    }

    /// Whether the stream is open and has space for writing.
    fileprivate var isWritable: Bool { status == .open && pipe.room > 0 }

    /// Whether a blocked call must return: the stream is neither open nor opening.
    fileprivate var isDecided: Bool { !mayMove }

    fileprivate var error: (any Error)? {
        guard status == .error else { return nil }
        return facts.failure?.streamError
    }
}
