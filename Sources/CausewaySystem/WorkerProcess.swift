internal import CCausewayLinux

/// A worker process that this process has started. The worker has one open socket and no other open file.
///
/// Calls block, so make them on your own thread. Any thread may call ``kill()``, which ends a call in progress.
/// Releasing the object ends the worker.
package final class WorkerProcess: Sendable {
    private let process: Descriptor
    private let channel: Descriptor

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: The program's path.
    ///   - arguments: The arguments after the program name.
    /// - Throws: The failed call's error, such as `ENOENT`.
    package init(_ path: String, arguments: [String]) throws(SystemError) {
        var (process, channel): (CInt, CInt) = (-1, -1)
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        words.append(nil)
        try check(cw_worker_start(path, words, &process, &channel), "execve")
        self.process = Descriptor(adopting: process)
        self.channel = Descriptor(adopting: channel)
    }

    deinit { cw_worker_end(process.rawValue) }

    /// The process identifier; `nil` if the kernel does not report it.
    package var identifier: Int? {
        let text = SmallFile.text("/proc/self/fdinfo/\(process.rawValue)") ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("Pid:") }
        return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).last.flatMap { Int($0) }
    }

    /// Ends the process.
    package func kill() { cw_worker_kill(process.rawValue) }

    /// Sends bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to send.
    ///   - deadline: When to give up, in the time of ``System/now``.
    /// - Throws: `EPIPE` or `ECONNRESET` if the process has ended, `ETIMEDOUT` at the deadline.
    package func send(_ bytes: [UInt8], until deadline: Duration) throws(SystemError) {
        var offset = 0
        while offset < bytes.count {
            let result = bytes.withUnsafeBytes { buffer in
                cw_worker_send(channel.rawValue, buffer.baseAddress! + offset, buffer.count - offset)
            }
            offset += try moved(result, "send", for: CInt(POLLOUT), until: deadline)
        }
    }

    /// Receives exactly `count` bytes.
    ///
    /// - Parameters:
    ///   - count: The number of bytes to receive.
    ///   - deadline: When to give up, in the time of ``System/now``.
    /// - Throws: `EPIPE` or `ECONNRESET` if the process has ended, `ETIMEDOUT` at the deadline.
    package func receive(_ count: Int, until deadline: Duration) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(SystemError) {
                while filled < count {
                    let result = recv(channel.rawValue, buffer.baseAddress! + filled, count - filled, 0)
                    if result == 0 { throw SystemError(errno: EPIPE, call: "recv") }
                    filled += try moved(result, "recv", for: CInt(POLLIN), until: deadline)
                }
            } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Returns the number of bytes that a socket call moved. If the call would block, waits until the socket is ready
    /// and returns 0.
    private func moved(
        _ result: Int, _ call: String, for events: CInt, until deadline: Duration
    ) throws(SystemError) -> Int {
        if result >= 0 { return result }
        let code = errno
        if code == EINTR { return 0 }
        guard code == EAGAIN else { throw SystemError(errno: code, call: call) }
        let remaining = deadline - System.now
        guard remaining > .zero else { throw SystemError(errno: ETIMEDOUT, call: call) }
        var entry = pollfd(fd: channel.rawValue, events: Int16(events), revents: 0)
        _ = poll(&entry, 1, CInt(clamping: remaining.components.seconds * 1_000 + 1 + remaining.milliseconds))
        return 0
    }
}

extension Duration {
    /// The part of this duration below one second, in whole milliseconds.
    fileprivate var milliseconds: Int64 { components.attoseconds / 1_000_000_000_000_000 }
}
