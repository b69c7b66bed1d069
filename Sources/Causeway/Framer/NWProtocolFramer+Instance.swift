public import CausewayTypes
public import FoundationEssentials

extension NWProtocolFramer {
    /// A framer's hold on the connection that it works for.
    ///
    /// It is used inside the framer's callbacks, or inside a block of ``async(execute:)``. Once the connection has gone,
    /// nothing has an effect: nothing is parsed or written.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    public final class Instance: CustomDebugStringConvertible, Sendable {
        /// When to call a framer's ``NWProtocolFramerImplementation/wakeup(framer:)``.
        ///
        /// Counterpart: macOS 10.15, iOS 13.
        public enum WakeupTime: Sendable {
            /// So many milliseconds from now.
            case milliseconds(UInt64)
            /// Never.
            case forever
        }

        /// The options with which the framer was put into the stack.
        ///
        /// Counterpart: macOS 12.3, iOS 15.4.
        public let options: NWProtocolFramer.Options

        private weak let host: (any FramerHost)?

        package init(options: Options, host: (any FramerHost)?) {
            self.options = options
            self.host = host
        }

        /// The handshake is done: what is above may go on.
        public func markReady() { host?.markReady() }

        /// The framer cannot go on, or has finished what it does when the connection closes.
        public func markFailed(error: NWError?) { host?.markFailed(error) }

        /// Shows input to a closure, which says how many bytes to step over; more than it was shown skips those to come.
        ///
        /// - Parameters:
        ///   - minimumIncompleteLength: The fewest bytes to show.
        ///   - maximumLength: The most bytes to show.
        ///   - parse: Called once, at once; with an empty buffer if there is too little.
        /// - Returns: Whether there were as many bytes as wanted.
        public func parseInput(
            minimumIncompleteLength: Int, maximumLength: Int,
            parse: (_ buffer: UnsafeMutableRawBufferPointer?, _ isComplete: Bool) -> Int
        ) -> Bool {
            guard let host else { return nothing(parse) }
            return host.parseInput(minimumIncompleteLength, maximumLength, parse)
        }

        /// Delivers bytes of the framer's making as a message, or as a part of one.
        public func deliverInput(data: Data, message: NWProtocolFramer.Message, isComplete: Bool) {
            host?.deliverInput(data, message, isComplete)
        }

        /// Delivers the next bytes of input as they are.
        ///
        /// - Returns: Whether they are there. If not, they are delivered when they come.
        public func deliverInputNoCopy(length: Int, message: NWProtocolFramer.Message, isComplete: Bool) -> Bool {
            host?.deliverInputNoCopy(length, message, isComplete) ?? false
        }

        /// From now on input passes without the framer.
        public func passThroughInput() { host?.passThroughInput() }

        /// As ``parseInput(minimumIncompleteLength:maximumLength:parse:)``, over the message to send. Only while one is
        /// handled.
        public func parseOutput(
            minimumIncompleteLength: Int, maximumLength: Int,
            parse: (_ buffer: UnsafeMutableRawBufferPointer?, _ isComplete: Bool) -> Int
        ) -> Bool {
            guard let host else { return nothing(parse) }
            return host.parseOutput(minimumIncompleteLength, maximumLength, parse)
        }

        /// Sends bytes of the framer's making.
        public func writeOutput(data: Data) { host?.writeOutput(data) }

        /// Sends bytes of the framer's making, of any contiguous or discontiguous kind.
        @inlinable public func writeOutput<Output>(data: Output) where Output: DataProtocol {
            writeOutput(data: Data(data))
        }

        /// Sends the next bytes of the message as they are.
        ///
        /// - Throws: `.posix(.EINVAL)` if the message has fewer, or none is handled now.
        public func writeOutputNoCopy(length: Int) throws {
            guard let host else { throw NWError.posix(.EINVAL) }
            try host.writeOutputNoCopy(length)
        }

        /// From now on output passes without the framer.
        public func passThroughOutput() { host?.passThroughOutput() }

        /// Sets the one time at which the framer is woken up; it replaces the one before.
        public func scheduleWakeup(wakeupTime: NWProtocolFramer.Instance.WakeupTime) {
            switch wakeupTime {
            case .milliseconds(let count): host?.scheduleWakeup(after: .milliseconds(Int64(clamping: count)))
            case .forever: host?.scheduleWakeup(after: nil)
            }
        }

        /// Runs a block between the framer's callbacks.
        public func async(execute: @escaping () -> Void) { host?.async(execute) }

        /// The remote endpoint.
        public var remote: NWEndpoint? { host?.remote }

        /// The local endpoint.
        public var local: NWEndpoint? { host?.local }

        /// The parameters of the connection.
        public var parameters: NWParameters? { host?.parameters }

        /// Puts a protocol above the framer, such as TLS once a proxy has answered.
        ///
        /// - Throws: `.posix(.EINVAL)` once the framer is ready.
        public func prependApplicationProtocol(options: NWProtocolOptions) throws {
            guard let host else { throw NWError.posix(.EINVAL) }
            try host.prependApplicationProtocol(options)
        }

        /// The name of the framer.
        public var debugDescription: String { "[framer \(options.definition.name)]" }

        private func nothing(_ parse: (UnsafeMutableRawBufferPointer?, Bool) -> Int) -> Bool {
            _ = parse(nil, false)
            return false
        }
    }
}

/// What runs a framer: the part of a connection's stack that ``NWProtocolFramer/Instance`` speaks to.
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
    /// `nil` for never.
    func scheduleWakeup(after delay: Duration?)
    func async(_ body: @escaping () -> Void)
    var remote: NWEndpoint? { get }
    var local: NWEndpoint? { get }
    var parameters: NWParameters? { get }
    func prependApplicationProtocol(_ options: NWProtocolOptions) throws(NWError)
}
