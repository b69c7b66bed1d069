package import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// Evaluates one proxy auto-configuration (PAC) script in a separate process. Resolves host names for the script.
///
/// Confined to a loop, except for ``cancel()``. The completion is called once, after the process has exited. It is not
/// called after ``cancel()``.
package final class PACEvaluation: Sendable {
    package struct Job: Sendable {
        /// The text of the proxy script, in UTF-8.
        package var script: [UInt8]
        package var subject: PACSubject
        /// Settings for two tasks: resolving names, and finding this host's own addresses.
        package var settings: SocketSettings
        /// The time limit for starting the process, running the script and resolving names together.
        package var limit: Duration = .seconds(5)

        package init(_ script: [UInt8], for subject: PACSubject, _ settings: SocketSettings) {
            self.script = script
            self.subject = subject
            self.settings = settings
        }
    }

    package struct Report: Sendable {
        package var result: Result<String, PACProblem>
        package var conversation: PACConversation
        package var duration: Duration
    }

    private struct State {
        var conversation = PACConversation()
        var completion: (@Sendable (Report) -> Void)?
        var result: Result<String, PACProblem>?
        var started: Duration = .zero
        var timer: TimerID?
        /// Whether the child process for the script is starting. ``PACTurns`` limits the number of running scripts, and
        /// has already permitted this one.
        var isLaunching = false
        var process: Watched?
        var channel: Watched?
        var resolution: (any NameResolving)?
        var found: [String] = []
    }

    private struct Watched {
        var fd: CInt
        var registration: Registration?
    }

    private let job: Job
    private let loop: any EventLoop
    private let resolver: any NameResolver
    private let state: LoopBound<State>

    package init(
        _ job: Job, on loop: any EventLoop, resolver: any NameResolver = SystemNameResolver(),
        _ completion: @escaping @Sendable (Report) -> Void
    ) {
        self.job = job
        self.loop = loop
        self.resolver = resolver
        state = LoopBound(State(completion: completion), to: loop)
    }

    package func start() { loop.execute { self.begin() } }

    /// Kills the process. The completion is not called. May be called from any thread.
    package func cancel() {
        loop.execute {
            self.state.value.completion = nil
            self.end(.failure(.cancelled))
        }
    }

    // MARK: The process

    private func begin() {
        guard state.value.result == nil else { return }
        state.value.started = System.now
        state.value.timer = loop.schedule(after: job.limit) { self.end(.failure(.tooSlow)) }
        PACTurns.shared.take { self.loop.execute { self.launch() } }
    }

    private func launch() {
        guard state.value.result == nil else { return PACTurns.shared.giveBack() }
        state.value.isLaunching = true
        let job = job
        do throws(SystemError) {
            // Loading the script engine from disk and forking a large program can block, so use a separate thread.
            try System.startThread(named: "causeway-script") {
                let outcome = Self.makeProcess(job)
                self.loop.execute { self.launched(outcome) }
            }
        } catch {
            launched(.failure(.noProcess(error.errno)))
        }
    }

    private static func makeProcess(_ job: Job) -> Result<(process: CInt, channel: CInt), PACProblem> {
        if let problem = PACProcess.problem { return .failure(.noEngine(problem)) }
        let arguments = [
            job.script, Array(job.subject.url.utf8), Array(job.subject.host.utf8), Array(ownAddresses(job).utf8),
            Array("\(PACProcess.minutesAhead)".utf8),
        ]
        do throws(SystemError) {
            return .success(try PACProcess.start(prelude: PACPrelude.text, arguments: arguments))
        } catch {
            return .failure(.noProcess(error.errno))
        }
    }

    /// Returns the source addresses for packets to the internet. Sends no packet to determine them.
    private static func ownAddresses(_ job: Job) -> String {
        // Addresses reserved for documentation, which no host has (RFC 5737 §3, RFC 3849).
        let far: [SocketAddress] = [
            .ipv4(bits: 0xC000_0201, port: 9), .ipv6(high: 0x2001_0DB8_0000_0000, low: 1, port: 9, scope: 0),
        ]
        let sources = SourceAddress.toward(far, over: job.settings.requiredInterface?.name)
        return sources.compactMap { $0.map { "\($0.address)" } }.joined(separator: ";")
    }

    private func launched(_ outcome: Result<(process: CInt, channel: CInt), PACProblem>) {
        state.value.isLaunching = false
        switch outcome {
        case .failure(let problem):
            end(.failure(problem))
            // The evaluation may already have ended while its process was starting, for example because its time limit
            // had passed. Also complete it in this case.
            finish()
        case .success(let (process, channel)):
            state.value.process = watch(process) { self.checkEnd() }
            state.value.channel = watch(channel) { self.listen() }
            if state.value.result != nil || state.value.channel?.registration == nil {
                PACProcess.kill(process)
                end(.failure(.noProcess(Errno.tooManyFiles)))
            }
            if state.value.process?.registration == nil { checkEnd() }
        }
    }

    private func watch(_ fd: CInt, _ body: @escaping @Sendable () -> Void) -> Watched {
        Watched(fd: fd, registration: try? loop.register(fd, for: .readable, ReadinessCall(body)))
    }

    /// Completes the evaluation if the process has exited; otherwise waits for its exit.
    private func checkEnd() {
        guard let process = state.value.process else { return }
        guard PACProcess.reap(process.fd) else {
            if let registration = process.registration {
                loop.await(.readable, of: registration)
            } else {
                _ = loop.schedule(after: .milliseconds(10)) { self.checkEnd() }
            }
            return
        }
        // Before the exit is handled, read the messages that the process sent.
        listen()
        perform(state.value.conversation.ended())
        close(&state.value.process)
        close(&state.value.channel)
        finish()
    }

    private func close(_ watched: inout Watched?) {
        guard let known = watched.take() else { return }
        if let registration = known.registration {
            loop.close(registration, Descriptor(adopting: known.fd))
        } else {
            Descriptor(adopting: known.fd).close()
        }
    }

    // MARK: The conversation

    private func listen() {
        while let channel = state.value.channel, state.value.result == nil {
            var result = IOResult.wouldBlock
            let room = PACConversation.messageLimit + 1
            let message = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                result = Socket.receive(channel.fd, into: UnsafeMutableRawBufferPointer(buffer))
                if case .moved(let moved) = result { count = moved } else { count = 0 }
            }
            switch result {
            // The channel has ended. Do nothing here, because `checkEnd()` sets the result when the process has exited.
            case .moved(0), .failed: return
            case .moved: perform(state.value.conversation.received(message))
            case .wouldBlock:
                if let registration = channel.registration { loop.await(.readable, of: registration) }
                return
            }
        }
    }

    private func perform(_ step: PACConversation.Step) {
        switch step {
        case .none: break
        case .lookUp(let name): lookUp(name)
        case .end(let result): end(result)
        }
    }

    private func lookUp(_ name: String) {
        state.value.found = []
        var request = NameRequest(name)
        request.scope = job.settings.resolutionScope
        request.partition = job.settings.resolution.partition
        if let events = resolver.known(request) {
            for event in events { heard(event) }
        } else {
            state.value.resolution = resolver.resolve(request) { event in
                self.loop.execute { self.heard(event) }
            }
        }
    }

    private func heard(_ event: NameEvent) {
        guard state.value.result == nil else { return }
        switch event {
        case .found(let addresses, _, _):
            state.value.found += addresses.compactMap { $0.internetAddress.map { "\($0)" } }
        case .settled, .answered: break
        case .ended:
            state.value.resolution = nil
            let answer = state.value.conversation.found(state.value.found)
            guard let channel = state.value.channel else { return }
            // The script process waits for this answer and has read all earlier answers. So the socket's send buffer is
            // empty, and the send should not block. If it fails or would block, end the evaluation.
            if case .moved = answer.withUnsafeBytes({ Socket.send(channel.fd, $0) }) { return }
            end(.failure(.broken))
        }
    }

    // MARK: The end

    private func end(_ result: Result<String, PACProblem>) {
        guard state.value.result == nil else { return }
        state.value.result = result
        if let timer = state.value.timer.take() { loop.cancel(timer) }
        state.value.resolution.take()?.cancel()
        if let process = state.value.process {
            PACProcess.kill(process.fd)
        } else if !state.value.isLaunching {
            report()
        }
    }

    /// Ends this script's turn, so that the next waiting script can run. Then reports the result.
    ///
    /// Called after the script's process has exited, or if the process could not be started.
    private func finish() {
        PACTurns.shared.giveBack()
        report()
    }

    private func report() {
        guard let result = state.value.result, let completion = state.value.completion.take() else { return }
        completion(
            Report(
                result: result, conversation: state.value.conversation, duration: System.now - state.value.started))
    }
}

/// Calls a closure when a descriptor is ready.
private final class ReadinessCall: ReadinessHandler {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func ready(for readiness: Readiness) { body() }
}
