public import CausewayTypes
public import FoundationEssentials

extension NWProtocolFramer {
    /// A framer's interface to one connection, to read, deliver and send the connection's data.
    ///
    /// Use the instance only in the framer's callbacks and in blocks passed to ``async(execute:)``. After the end of the connection the
    /// methods have no effect: nothing is parsed or written.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public final class Instance: CustomDebugStringConvertible, Sendable {
        /// The time of the next ``NWProtocolFramerImplementation/wakeup(framer:)`` call.
        ///
        /// Counterpart: macOS 10.15, iOS 13.
        public enum WakeupTime: Sendable {
            /// Call the framer's wakeup method after this number of milliseconds.
            case milliseconds(UInt64)
            /// No wakeup call is made, because the timer is stopped.
            case forever
        }

        /// The framer's options in the protocol stack.
        ///
        /// Counterpart: macOS 12.3, iOS 15.4.
        public let options: NWProtocolFramer.Options

        private weak let host: (any FramerHost)?

        package init(options: Options, host: (any FramerHost)?) {
            self.options = options
            self.host = host
        }

        /// Ends the framer's handshake. The protocols above can then start.
        ///
        /// Call this method after ``NWProtocolFramerImplementation/start(framer:)`` has returned `.willMarkReady`.
        public func markReady() { host?.markReady() }

        /// Fails the connection with an error; `nil` stands for `.posix(.ECONNABORTED)`.
        ///
        /// If the connection is already closing, this method ends the close normally instead, without the error. A
        /// framer whose ``NWProtocolFramerImplementation/stop(framer:)`` method has returned `false` must call this
        /// method when it is done.
        public func markFailed(error: NWError?) { host?.markFailed(error) }

        /// Passes received bytes to a closure. The closure returns the number of bytes to skip.
        ///
        /// The closure is called once before the method returns. Its buffer is a copy that is valid only inside the
        /// closure; changes to the buffer are lost.
        ///
        /// If fewer bytes than the minimum are available and the message is not complete, the buffer is `nil`. The
        /// closure's result is ignored in this case. If the closure returns more than the buffer size, the following
        /// bytes are skipped when they arrive.
        ///
        /// - Parameters:
        ///   - minimumIncompleteLength: The minimum number of bytes to pass. More than 16 MiB makes the connection fail
        ///     with `EMSGSIZE`.
        ///   - maximumLength: The maximum number of bytes to pass.
        ///   - parse: Called with the bytes, and with `true` if the message or stream ends with them.
        /// - Returns: Whether the minimum number of bytes was available.
        public func parseInput(
            minimumIncompleteLength: Int, maximumLength: Int,
            parse: (_ buffer: UnsafeMutableRawBufferPointer?, _ isComplete: Bool) -> Int
        ) -> Bool {
            guard let host else { return nothing(parse) }
            return host.parseInput(minimumIncompleteLength, maximumLength, parse)
        }

        /// Delivers a message, or a part of a message, to the protocol above. Use this method for bytes that the framer
        /// has created or changed, and ``deliverInputNoCopy(length:message:isComplete:)`` for unchanged input.
        ///
        /// - Parameters:
        ///   - data: The bytes to deliver.
        ///   - message: The metadata of the message.
        ///   - isComplete: Whether the message ends with these bytes.
        public func deliverInput(data: Data, message: NWProtocolFramer.Message, isComplete: Bool) {
            host?.deliverInput(data, message, isComplete)
        }

        /// Delivers the next received bytes to the protocol above, unchanged and without a copy.
        ///
        /// - Parameters:
        ///   - length: The number of bytes. 0 with `isComplete` ends a message.
        ///   - message: The metadata of the message.
        ///   - isComplete: Whether the message ends with these bytes.
        /// - Returns: Whether all bytes have arrived. If not, the rest is delivered when it arrives, and until then the
        ///   framer gets no input.
        public func deliverInputNoCopy(length: Int, message: NWProtocolFramer.Message, isComplete: Bool) -> Bool {
            host?.deliverInputNoCopy(length, message, isComplete) ?? false
        }

        /// Delivers all input to the protocol above from now on, without calling the framer.
        public func passThroughInput() { host?.passThroughInput() }

        /// Passes bytes from the outgoing message to a closure, which returns the number of bytes to skip. There are
        /// bytes only during a call of
        /// ``NWProtocolFramerImplementation/handleOutput(framer:message:messageLength:isComplete:)``.
        ///
        /// The parameters and the result are those of ``parseInput(minimumIncompleteLength:maximumLength:parse:)``.
        public func parseOutput(
            minimumIncompleteLength: Int, maximumLength: Int,
            parse: (_ buffer: UnsafeMutableRawBufferPointer?, _ isComplete: Bool) -> Int
        ) -> Bool {
            guard let host else { return nothing(parse) }
            return host.parseOutput(minimumIncompleteLength, maximumLength, parse)
        }

        /// Sends bytes that the framer has created or changed. All bytes written in one callback form one message for the protocol below.
        public func writeOutput(data: Data) { host?.writeOutput(data) }

        /// Sends any `DataProtocol` content, contiguous or not.
        @inlinable public func writeOutput<Output>(data: Output) where Output: DataProtocol {
            writeOutput(data: Data(data))
        }

        /// Sends the next bytes of the message unchanged.
        ///
        /// - Parameter length: The number of bytes.
        /// - Throws: `.posix(.EINVAL)` if the message has fewer bytes, and outside of
        ///   ``NWProtocolFramerImplementation/handleOutput(framer:message:messageLength:isComplete:)``.
        public func writeOutputNoCopy(length: Int) throws {
            guard let host else { throw NWError.posix(.EINVAL) }
            try host.writeOutputNoCopy(length)
        }

        /// Sends all further output directly to the protocol below, without calling the framer.
        public func passThroughOutput() { host?.passThroughOutput() }

        /// Sets the time of the next ``NWProtocolFramerImplementation/wakeup(framer:)``. A framer has one timer: a new time replaces the
        /// previous one.
        public func scheduleWakeup(wakeupTime: NWProtocolFramer.Instance.WakeupTime) {
            switch wakeupTime {
            case .milliseconds(let count): host?.scheduleWakeup(after: .milliseconds(Int64(clamping: count)))
            case .forever: host?.scheduleWakeup(after: nil)
            }
        }

        /// Runs a block on the connection's queue, while no callback of the framer runs. The block does not run after
        /// ``NWProtocolFramerImplementation/cleanup(framer:)``.
        public func async(execute: @escaping () -> Void) { host?.async(execute) }

        /// The connection's remote endpoint; `nil` after the connection has ended.
        public var remote: NWEndpoint? { host?.remote }

        /// The connection's local endpoint; `nil` if unknown, and after the connection has ended.
        public var local: NWEndpoint? { host?.local }

        /// The connection's parameters; `nil` after the connection has ended.
        public var parameters: NWParameters? { host?.parameters }

        /// Adds a protocol above the framer, for example TLS after an HTTP proxy has accepted the connection.
        ///
        /// - Throws: `.posix(.EINVAL)` if the framer is ready already or the connection has ended; another error if the options are
        ///   invalid.
        public func prependApplicationProtocol(options: NWProtocolOptions) throws {
            guard let host else { throw NWError.posix(.EINVAL) }
            try host.prependApplicationProtocol(options)
        }

        /// The framer's name.
        public var debugDescription: String { "[framer \(options.definition.name)]" }

        private func nothing(_ parse: (UnsafeMutableRawBufferPointer?, Bool) -> Int) -> Bool {
            _ = parse(nil, false)
            return false
        }
    }
}

/// The receiver of the calls that a framer makes on its ``NWProtocolFramer/Instance``. It performs these calls in the
/// protocol stack of one connection.
package protocol FramerHost: AnyObject, Sendable {
    func markReady()
    func markFailed(_ error: NWError?)
    func parseInput(_ minimum: Int, _ maximum: Int, _ parse: (UnsafeMutableRawBufferPointer?, Bool) -> Int) -> Bool
    func deliverInput(_ data: Data, _ message: NWProtocolFramer.Message, _ isComplete: Bool)
    func deliverInputNoCopy(_ length: Int, _ message: NWProtocolFramer.Message, _ isComplete: Bool) -> Bool
    func passThroughInput()
    func parseOutput(_ minimum: Int, _ maximum: Int, _ parse: (UnsafeMutableRawBufferPointer?, Bool) -> Int) -> Bool
    func writeOutput(_ data: Data)
    func writeOutputNoCopy(_ length: Int) throws(NWError)
    func passThroughOutput()
    /// Schedules a wakeup; `nil` cancels the scheduled wakeup.
    func scheduleWakeup(after delay: Duration?)
    func async(_ body: @escaping () -> Void)
    var remote: NWEndpoint? { get }
    var local: NWEndpoint? { get }
    var parameters: NWParameters? { get }
    func prependApplicationProtocol(_ options: NWProtocolOptions) throws(NWError)
}
