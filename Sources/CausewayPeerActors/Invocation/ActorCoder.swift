internal import Distributed
internal import Foundation

/// Encodes arguments, results and errors as JSON.
///
/// The format is not a binary property list: such a list can refer to one object many times, and so cost the receiver
/// much more memory than the sender. Foundation bounds the nesting depth.
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
