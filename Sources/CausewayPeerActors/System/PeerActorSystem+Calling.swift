internal import CausewayPeerProtocols
public import Distributed

extension PeerActorSystem {
    @TaskLocal private static var timeout: Duration?

    /// Runs an operation with another call timeout than ``Options/callTimeout``.
    ///
    /// The timeout applies to each call separately, also in child tasks.
    ///
    /// - Throws: The operation's error. A call that times out throws ``PeerActorFailure`` with `timedOut`.
    public static func withCallTimeout<Result>(
        _ timeout: Duration, isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Result
    ) async rethrows -> Result {
        try await $timeout.withValue(timeout, operation: operation, isolation: isolation)
    }

    /// Calls a function on a peer's actor, and waits for its result. The Swift runtime calls this method.
    ///
    /// - Throws: The function's error if its type is in ``Options/errors``, otherwise ``PeerActorFailure``.
    ///
    /// Cancellation: throws `CancellationError` at once, and cancels the task at the peer. The function may have run.
    public func remoteCall<Act: DistributedActor, Failure: Error, Result: Codable>(
        on actor: Act, target: RemoteCallTarget, invocation: inout PeerInvocationEncoder, throwing: Failure.Type,
        returning: Result.Type
    ) async throws -> Result where Act.ID == PeerActorID {
        let reply = try await call(actor.id, target, invocation.arguments)
        guard case .value(let bytes) = reply else {
            throw PeerActorFailure(.invalidResult, "\(target) has no result at the peer")
        }
        do {
            return try ActorCoder(system: self).decode(returning, bytes)
        } catch {
            throw PeerActorFailure(.invalidResult, "the result of \(target) is not a \(returning): \(error)")
        }
    }

    /// Calls a function without a result, and waits until it has run. The Swift runtime calls this method.
    ///
    /// - Throws: As `remoteCall`.
    ///
    /// Cancellation: as `remoteCall`.
    public func remoteCallVoid<Act: DistributedActor, Failure: Error>(
        on actor: Act, target: RemoteCallTarget, invocation: inout PeerInvocationEncoder, throwing: Failure.Type
    ) async throws where Act.ID == PeerActorID {
        guard case .void = try await call(actor.id, target, invocation.arguments) else {
            throw PeerActorFailure(.invalidResult, "\(target) has a result at the peer")
        }
    }

    private func call(_ id: PeerActorID, _ target: RemoteCallTarget, _ arguments: [[UInt8]]) async throws -> ActorReply
    {
        try Task.checkCancellation()
        guard id.peer != me else { throw PeerActorFailure(.unknownActor, "the local actor \(id) does not exist") }
        let waiter = CallWaiter()
        let number = try start(id, target, arguments, waiter)
        let outcome = await withTaskCancellationHandler {
            await waiter.outcome()
        } onCancel: {
            apply { $0.engine.cancel(number, to: id.peer, wasSent: true) }
        }
        return try result(outcome, id, target)
    }

    /// Numbers a call and queues its frame under one lock, so that frames are sent in call order.
    private func start(
        _ id: PeerActorID, _ target: RemoteCallTarget, _ arguments: [[UInt8]], _ waiter: CallWaiter
    ) throws(PeerActorFailure) -> UInt64 {
        var call = ActorCall(id: 0, actor: id.number, target: target.identifier, arguments: arguments)
        let deadline = ActorLimits.end(of: Self.timeout ?? callTimeout, from: clock.now)
        if let text = Self.excess(target, arguments.count) { throw PeerActorFailure(.tooLarge, text) }
        let byteCount = call.byteCount + 4 * arguments.count + 64
        guard byteCount <= limits.frameByteCount else {
            throw PeerActorFailure(
                .tooLarge,
                "a call of \(byteCount) bytes; the limit is \(limits.frameByteCount): see Options.messageByteLimit")
        }
        let started = apply { state -> Swift.Result<UInt64, PeerActorFailure> in
            guard !state.isStopped else { return .failure(Self.stopped) }
            guard state.outboxes.hasRoom(for: byteCount, to: id.peer) else {
                let text = "a call of \(byteCount) bytes does not fit into the queue for \(id.peer)"
                return .failure(
                    PeerActorFailure(
                        .tooManyCalls, "\(text), which has \(Outboxes.limit) bytes: await a result before the next call"
                    )
                )
            }
            do throws(ActorCallError) {
                call.id = try state.engine.call(id.peer, waiter, until: deadline)
            } catch {
                return .failure(failure(error, id))
            }
            state.outboxes.append(ActorFrame.call(call).bytes, to: id.peer)
            return .success(call.id)
        }
        return try started.get()
    }

    /// Returns why a call cannot be sent to any peer; `nil` if it can.
    private static func excess(_ target: RemoteCallTarget, _ argumentCount: Int) -> String? {
        let byteCount = target.identifier.utf8.count
        guard byteCount <= ActorLimits.textByteCount else {
            return "the mangled name of \(target) has \(byteCount) bytes; at most \(ActorLimits.textByteCount) are sent"
        }
        guard argumentCount <= ActorLimits.argumentCount else {
            return "\(target) has \(argumentCount) arguments; at most \(ActorLimits.argumentCount) are sent"
        }
        return nil
    }

    private static let stopped = PeerActorFailure(.stopped, "the actor system was stopped")

    private func failure(_ error: ActorCallError, _ id: PeerActorID) -> PeerActorFailure {
        switch error {
        case .notConnected: PeerActorFailure(.peerLost, "the peer of the actor \(id) is no member of the session")
        case .violation(let text): PeerActorFailure(.violation, "the peer violated the actor protocol: \(text)")
        case .tooManyCalls:
            PeerActorFailure(.tooManyCalls, "\(limits.callCount) calls to this peer wait: see Options.callLimit")
        }
    }

    private func result(_ outcome: ActorOutcome, _ id: PeerActorID, _ target: RemoteCallTarget) throws -> ActorReply {
        switch outcome {
        case .cancelled: throw CancellationError()
        case .timedOut: throw PeerActorFailure(.timedOut, "\(target) had no result in time: see Options.callTimeout")
        case .violation(let text): throw failure(.violation(text), id)
        case .lost(let reason):
            if state.withLock({ $0.isStopped }) { throw Self.stopped }
            throw PeerActorFailure(.peerLost, "the peer left during \(target): \(reason)")
        case .reply(.thrown(let error)): throw errorTypes.error(error, ActorCoder(system: self))
        case .reply(.described(let text)): throw PeerActorFailure(.thrown, text)
        case .reply(.refused(let refusal, let text)): throw PeerActorFailure(refusal: refusal, "\(target): \(text)")
        case .reply(let reply): return reply
        }
    }
}

extension PeerActorFailure {
    fileprivate init(refusal: ActorRefusal, _ text: String) {
        let code: Code =
            switch refusal {
            case .unknownActor: .unknownActor
            case .unknownTarget: .unknownTarget
            case .invalidArguments: .invalidArguments
            case .tooManyCalls: .tooManyCalls
            case .tooLarge: .tooLarge
            case .invalidResult: .invalidResult
            case .cancelled: .cancelledByPeer
            case .unsupported: .unsupported
            }
        self.init(code, text)
    }
}
