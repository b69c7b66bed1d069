/// Decodes the messages in one received netlink datagram.
///
/// Each call to ``next()`` returns a message, throws, or returns `nil` at the end. No input makes the decoder trap, and
/// the end is reached after finitely many calls. After an error in a message's content, call ``next()`` again: the
/// header gives the malformed message's length, so the decoder continues with the message after it.
package struct NetlinkDecoder: ~Escapable {
    /// One message with its header.
    package struct Frame: Equatable, Sendable {
        package var header: NetlinkHeader
        package var message: NetlinkMessage

        package init(header: NetlinkHeader, message: NetlinkMessage) {
            self.header = header
            self.message = message
        }
    }

    /// The kind of messages that a socket uses. The kind determines the meaning of message type numbers.
    package enum Vocabulary: Sendable {
        /// rtnetlink(7) message types.
        case routing
        /// Generic netlink. The message type is the number that the kernel has assigned to a family.
        case generic
    }

    private var reader: ByteReader
    private let vocabulary: Vocabulary

    @_lifetime(copy bytes)
    package init(_ bytes: RawSpan, _ vocabulary: Vocabulary = .routing) {
        reader = ByteReader(bytes)
        self.vocabulary = vocabulary
    }

    @_lifetime(copy bytes)
    package init(_ bytes: Span<UInt8>, _ vocabulary: Vocabulary = .routing) {
        reader = ByteReader(bytes)
        self.vocabulary = vocabulary
    }

    /// Returns the next message, or `nil` if no message is left.
    ///
    /// - Throws: ``WireError``. After an error in a header, the remaining datagram cannot be decoded, so the next call
    ///   returns `nil`.
    package mutating func next() throws(WireError) -> Frame? {
        guard !reader.isAtEnd else { return nil }
        let (header, start) = try readFrameStart()
        var body: ByteReader
        do throws(WireError) {
            body = try reader.readScope(Int(header.length) - NetlinkHeader.byteCount)
        } catch {
            _ = reader.readRest()
            throw .truncated(needed: Int(header.length), available: reader.position - start, at: start)
        }
        reader.align(to: 4)
        return Frame(header: header, message: try message(&body, header.type))
    }

    private func message(_ body: inout ByteReader, _ type: UInt16) throws(WireError) -> NetlinkMessage {
        guard vocabulary == .generic, type >= NetlinkType.firstOfFamilies else {
            return try NetlinkMessage(parsing: &body, type: type)
        }
        return .generic(try GenericNetlinkMessage(parsing: &body, family: type))
    }

    private mutating func readFrameStart() throws(WireError) -> (header: NetlinkHeader, start: Int) {
        let start = reader.position
        do throws(WireError) {
            let header = try NetlinkHeader(parsing: &reader)
            guard header.length >= NetlinkHeader.byteCount else { throw .invalid("message length", at: start) }
            return (header, start)
        } catch {
            _ = reader.readRest()
            throw error
        }
    }
}

extension NetlinkMessage {
    /// Decodes a message's content, after its header.
    init(parsing body: inout ByteReader, type: UInt16) throws(WireError) {
        switch type {
        case NetlinkType.noOperation: self = .noOperation
        case NetlinkType.overrun: self = .overrun
        // `NLMSG_DONE` ends the kernel's reply to a list request. It contains a status, which old kernels leave out. A
        // missing status means success.
        case NetlinkType.done: self = .done(status: body.isAtEnd ? 0 : try body.readHostInteger())
        case NetlinkType.error: self = .error(status: try body.readHostInteger())
        case NetlinkType.newLink: self = .link(try NetlinkLink(parsing: &body))
        case NetlinkType.deleteLink: self = .linkRemoved(try NetlinkLink(parsing: &body))
        case NetlinkType.newAddress:
            self = try NetlinkAddress(parsing: &body).map { .address($0) } ?? .other(type: type)
        case NetlinkType.deleteAddress:
            self = try NetlinkAddress(parsing: &body).map { .addressRemoved($0) } ?? .other(type: type)
        case NetlinkType.newRoute:
            self = try NetlinkRoute(parsing: &body).map { .route($0) } ?? .other(type: type)
        case NetlinkType.deleteRoute:
            self = try NetlinkRoute(parsing: &body).map { .routeRemoved($0) } ?? .other(type: type)
        case NetlinkType.newRule:
            self = try NetlinkRule(parsing: &body).map { .rule($0) } ?? .other(type: type)
        case NetlinkType.deleteRule:
            self = try NetlinkRule(parsing: &body).map { .ruleRemoved($0) } ?? .other(type: type)
        case NetlinkType.newNeighbour:
            self = try NetlinkNeighbour(parsing: &body).map { .neighbour($0) } ?? .other(type: type)
        case NetlinkType.newUserOption:
            self = try NetlinkTranslatorPrefix(parsing: &body).map { .translatorPrefix($0) } ?? .other(type: type)
        default: self = .other(type: type)
        }
    }
}
