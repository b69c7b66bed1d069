internal import Causeway
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// Connects a stream pair to the program's socket: reads from the socket while the inbound pipe has space, and writes
/// the outbound pipe's content to the socket.
///
/// All socket calls are non-blocking and made on one queue. If a call would block, a Dispatch source reports when to
/// repeat the call.
final class SocketLink: StreamLink {
    private struct State: Sendable {
        var closesSocket: Bool
        var isOpen = false
        /// Whether the output stream is closed and no content waits. All its content was sent, or can no longer be
        /// sent.
        var hasSentAll = false
        /// Whether the link has ended: both streams are closed, and nothing remains to be sent.
        var isOver = false
        var closed: Set<Side> = []
        /// For each active Dispatch source, a closure that cancels the source. The closure is removed when the source
        /// no longer uses the descriptor.
        var waits: [Side: @Sendable () -> Void] = [:]
        /// Descriptors that stay open as long as Dispatch sources use them. They are closed after that.
        var held: [CInt] = []
        /// Content that waits because the socket's send buffer was full.
        var rest: ArraySlice<UInt8> = []
        var whenEnded: [@Sendable () -> Void] = []
    }

    private enum Side: Sendable { case input, output }

    /// Maximum number of bytes per socket call.
    private static let chunk = 16 << 10
    /// Maximum time in seconds to send written content after both streams are closed.
    private static let patience = 30

    let inbound = BytePipe(capacity: ConnectionLink.bufferSize)
    let outbound = BytePipe(capacity: ConnectionLink.bufferSize)
    /// The program's socket descriptor.
    private let descriptor: CInt
    /// A duplicate of the descriptor, owned by the link. The program may close its own descriptor as soon as the
    /// streams are closed, but Dispatch stops using a descriptor only later. If the program's descriptor number were
    /// reused meanwhile, Dispatch would confuse the new socket with this one.
    private let watched: CInt
    private let queue = DispatchQueue(label: "causeway.streams.socket", target: .global())
    private let state: LockedValue<State>

    init(_ descriptor: CInt, closesSocket: Bool) {
        self.descriptor = descriptor
        var state = State(closesSocket: closesSocket)
        if let copy = try? Socket.duplicate(descriptor) {
            watched = copy.release()
            state.held = [watched]
        } else {
            watched = descriptor
        }
        self.state = LockedValue(state)
        inbound.observe { [weak self] in self?.pump() }
        outbound.observe { [weak self] in self?.pump() }
    }

    deinit {
        // If the link has not ended, its descriptors are still open, so close them here. No Dispatch source can still
        // use them, because an active source would retain the link.
        for number in state.withLock({ $0.held }) { Descriptor(adopting: number).close() }
    }

    // MARK: Opening and closing

    func open(_ core: StreamCore) {
        state.withLock { $0.isOpen = true }
        core.opened()
        pump()
    }

    func closed(_ direction: StreamCore.Direction) {
        let isAlone = state.withLock { state in
            state.closed.insert(direction == .input ? .input : .output)
            return state.closed.count == 2
        }
        switch direction {
        case .input: inbound.abandon()
        case .output: outbound.finish()
        }
        pump()
        guard isAlone else { return }
        queue.call(after: .seconds(Self.patience)) { [weak self] in self?.end() }
    }

    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            let isOver = state.isOver || state.hasSentAll || outbound.failure != nil
            if !isOver { state.whenEnded.append(body) }
            return isOver
        }
        if isOver { body() }
    }

    private func fail(_ code: CInt) {
        inbound.fail(NWError(errno: code))
        outbound.fail(NWError(errno: code))
        tellSent()
    }

    private func tellSent() {
        let waiting = state.withLock { state in
            state.hasSentAll = true
            defer { state.whenEnded = [] }
            return state.whenEnded
        }
        for body in waiting { body() }
    }

    private func end() {
        let waits = state.withLock { state -> [@Sendable () -> Void]? in
            guard !state.isOver else { return nil }
            state.isOver = true
            return Array(state.waits.values)
        }
        guard let waits else { return }
        for cancel in waits { cancel() }
        tellSent()
        closeIfFree()
    }

    /// Closes the descriptors when no source uses them any more. Not earlier, because the kernel may then assign their
    /// numbers to other files.
    private func closeIfFree() {
        let released = state.withLock { state -> [CInt] in
            guard state.isOver, state.waits.isEmpty else { return [] }
            defer { (state.held, state.closesSocket) = ([], false) }
            return state.held + (state.closesSocket ? [descriptor] : [])
        }
        for number in released { Descriptor(adopting: number).close() }
    }

    // MARK: Content

    private func pump() {
        queue.async { [self] in
            guard state.withLock({ $0.isOpen && !$0.isOver }) else { return endIfUnopened() }
            pumpIn()
            pumpOut()
            let isDone = state.withLock { $0.closed.count == 2 && $0.hasSentAll }
            if isDone { end() }
        }
    }

    /// Ends the link if both streams were closed without being opened: there is nothing to send.
    private func endIfUnopened() {
        if state.withLock({ $0.closed.count == 2 && !$0.isOver }) { end() }
    }

    private func pumpIn() {
        while !inbound.isAbandoned, !inbound.hasFinished, inbound.failure == nil, case let room = inbound.room, room > 0
        {
            guard state.withLock({ $0.waits[.input] == nil }) else { return }
            var block = [UInt8](repeating: 0, count: min(room, Self.chunk))
            switch block.withUnsafeMutableBytes({ Socket.receive(watched, into: $0) }) {
            case .moved(0): inbound.finish()
            case .moved(let count): block[..<count].withUnsafeBytes { _ = inbound.write($0) }
            case .wouldBlock:
                wait(for: DispatchSource.makeReadSource(fileDescriptor: watched, queue: queue), .input)
            case .failed(let code): fail(code)
            }
        }
    }

    private func pumpOut() {
        while outbound.failure == nil, state.withLock({ $0.waits[.output] == nil && !$0.hasSentAll }) {
            var piece = state.withLock { state in
                defer { state.rest = [] }
                return state.rest
            }
            let isFinished = outbound.hasFinished
            if piece.isEmpty {
                var block = [UInt8](repeating: 0, count: Self.chunk)
                let count = block.withUnsafeMutableBytes { outbound.read(into: $0) }
                piece = block[..<count]
            }
            guard !piece.isEmpty else {
                if isFinished { sentAll() }
                return
            }
            switch piece.withUnsafeBytes({ Socket.send(watched, $0) }) {
            case .moved(let count):
                let rest = piece.dropFirst(count)
                state.withLock { $0.rest = rest }
            case .wouldBlock:
                let rest = piece
                state.withLock { $0.rest = rest }
                wait(for: DispatchSource.makeWriteSource(fileDescriptor: watched, queue: queue), .output)
            case .failed(let code): fail(code)
            }
        }
    }

    /// Called when all content was sent. If the streams own the socket, this method ends the socket's sending
    /// direction. Otherwise, both directions stay open.
    private func sentAll() {
        if state.withLock({ $0.closesSocket }) { try? Socket.shutdownWrite(watched) }
        tellSent()
    }

    /// Waits until the Dispatch source reports that the descriptor is ready. Then continues the transfer. Fails the
    /// streams if there are too few free descriptors for a Dispatch source.
    private func wait(for makeSource: @autoclosure () -> any DispatchSourceProtocol, _ side: Side) {
        do throws(SystemError) { try System.checkRoomForSource() } catch { return fail(error.errno) }
        let source = Unchecked(makeSource())
        state.withLock { $0.waits[side] = { source.value.cancel() } }
        source.value.setEventHandler { source.value.cancel() }
        // Dispatch calls this handler when it no longer uses the descriptor. Until then, the handler retains the link.
        source.value.setCancelHandler { [self] in
            state.withLock { $0.waits[side] = nil }
            closeIfFree()
            pump()
        }
        source.value.resume()
    }

    // MARK: Properties

    func property(_ key: Stream.PropertyKey) -> AnyObject? {
        switch key {
        case .shouldCloseNativeSocket: NSNumber(value: state.withLock { $0.closesSocket })
        case .socketNativeHandle: withUnsafeBytes(of: descriptor) { NSData(bytes: $0.baseAddress, length: $0.count) }
        default: nil
        }
    }

    func setProperty(_ value: AnyObject?, _ key: Stream.PropertyKey) -> Bool {
        guard key == .shouldCloseNativeSocket, let closes = StreamSettings.boolean(value) else { return false }
        state.withLock { $0.closesSocket = closes }
        return true
    }
}
