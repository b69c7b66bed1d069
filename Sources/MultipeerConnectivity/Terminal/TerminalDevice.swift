internal import Causeway
internal import CausewaySystem
internal import CausewayTypes
internal import Dispatch

/// A terminal that shows text and delivers typed bytes. Tests replace it.
protocol Terminal: Sendable {
    /// Number of columns and lines.
    var size: (columns: Int, lines: Int) { get }
    func write(_ text: PrintableText)
    /// Delivers typed bytes to `handler` until ``endReading()``, on any thread, one call at a time.
    ///
    /// - Parameters:
    ///   - isRaw: Whether each key is delivered at once and not echoed. Otherwise lines are delivered.
    ///   - handler: Called with the bytes. At the end of input, for example if the terminal was closed, it is called
    ///     once without bytes.
    func beginReading(isRaw: Bool, _ handler: @escaping @Sendable ([UInt8]) -> Void)
    /// Stops reading, and restores the terminal's mode.
    func endReading()
}

/// An open terminal device. The dispatch source that reads from the terminal retains this object. So the descriptor
/// stays open until the source has ended.
private final class TerminalFile: Sendable {
    let number: CInt

    init(_ number: CInt) { self.number = number }

    deinit { _ = close(number) }
}

/// The process's controlling terminal, `/dev/tty`. It is used because standard input and output may be redirected.
final class TerminalDevice: Terminal {
    private struct State: Sendable {
        var source: Unchecked<any DispatchSourceRead>?
        var savedMode: termios?
    }

    private let file: TerminalFile
    private let state = LockedValue(State())
    private let queue = DispatchQueue(label: "causeway.multipeer.terminal", target: .global())

    /// Opens the terminal of this process. Returns `nil` if the process has no terminal. Also returns `nil` if the
    /// process is in the background, because it then cannot read from the terminal.
    init?() {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        guard tcgetpgrp(descriptor) == getpgrp() else {
            _ = close(descriptor)
            return nil
        }
        file = TerminalFile(descriptor)
    }

    deinit { endReading() }

    private var descriptor: CInt { file.number }

    var size: (columns: Int, lines: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Writes text. Text that does not fit into the terminal's buffer is dropped, so that the thread does not block if
    /// the user has paused the output, for example with Ctrl-S.
    func write(_ text: PrintableText) {
        var bytes = Array(text.text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { CausewaySystem.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    func beginReading(isRaw: Bool, _ handler: @escaping @Sendable ([UInt8]) -> Void) {
        endReading()
        // Check for a free file descriptor first, because Dispatch traps if a new source finds none. If there is none,
        // report a closed terminal.
        guard (try? System.checkRoomForSource()) != nil else { return queue.async { handler([]) } }
        if isRaw { setRaw() }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [file, weak self] in
            var buffer = [UInt8](repeating: 0, count: 1_024)
            let count = read(file.number, &buffer, buffer.count)
            let code = errno
            guard count >= 0 || code != EAGAIN && code != EINTR else { return }
            // A closed terminal always counts as readable. So without `endReading()`, Dispatch would call this handler
            // again and again.
            if count <= 0 { self?.endReading() }
            handler(Array(buffer.prefix(max(0, count))))
        }
        let held = Unchecked(source as any DispatchSourceRead)
        state.withLock { $0.source = held }
        source.resume()
    }

    func endReading() {
        let (source, mode) = state.withLock { state in (state.source.take(), state.savedMode.take()) }
        source?.value.cancel()
        guard var mode else { return }
        _ = tcsetattr(descriptor, TCSADRAIN, &mode)
    }

    /// Turns off line mode, echo and signal keys. With signal keys, Ctrl-C would end the process before it has restored
    /// the terminal's mode.
    private func setRaw() {
        var mode = termios()
        guard tcgetattr(descriptor, &mode) == 0 else { return }
        let saved = mode
        state.withLock { $0.savedMode = saved }
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        _ = tcsetattr(descriptor, TCSADRAIN, &mode)
    }
}
