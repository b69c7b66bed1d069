internal import Distributed
internal import Foundation

/// Encodes arguments, results and errors as JSON.
///
/// A binary property list would be a risk: it can refer to one object many times, and so cost the receiver much more
/// memory than the sender. With JSON, this cannot occur, and Foundation limits the nesting depth.
struct ActorCoder {
    let system: PeerActorSystem

    func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.userInfo[.actorSystemKey] = system
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return [UInt8](try encoder.encode(value))
    }

    func decode<Value: Decodable>(_ type: Value.Type = Value.self, _ bytes: [UInt8]) throws -> Value {
        let decoder = JSONDecoder()
        decoder.userInfo[.actorSystemKey] = system
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try decoder.decode(type, from: Data(bytes))
    }
}
