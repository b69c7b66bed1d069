/// Reads GeoRSS shapes, in simple form and in GML.
struct ShapeReader: Sendable {
    private var kind: FeedPlace.Shape?
    private var dimension = 2
    private var isProjected = false
    private var latitude: Double?
    private var longitude: Double?

    private static let maximumPositions = 10_000

    /// Reads a start tag.
    mutating func begin(_ key: String, _ attributes: FeedAttributes) {
        switch key {
        case "georss_where": kind = nil
        case "gml_point": kind = .point
        case "gml_linestring": kind = .line
        case "gml_polygon": kind = .polygon
        default: break
        }
        if let count = attributes["srsdimension"].flatMap({ Int($0) }) { dimension = count == 3 ? 3 : 2 }
        if let system = attributes["srsname"] {
            let code = system.split(separator: ":").last.flatMap { Int($0) } ?? 4326
            // Geographic coordinate systems write the latitude first. Projections write the easting first.
            isProjected = !(4000..<5000).contains(code)
        }
    }

    /// Processes the end tag of an element. Returns the shape if this element completes it.
    mutating func end(_ key: String, _ value: String) -> FeedPlace? {
        switch key {
        case "georss_point": return place(.point, value)
        case "georss_line": return place(.line, value)
        case "georss_polygon": return place(.polygon, value)
        case "georss_box": return place(.box, value)
        case "gml_pos", "gml_poslist", "gml_coordinates": return kind.flatMap { place($0, value) }
        case "geo_lat": latitude = Double(value).flatMap { $0.isFinite ? $0 : nil }
        case "geo_long": longitude = Double(value).flatMap { $0.isFinite ? $0 : nil }
        default: return nil
        }
        guard let latitude, let longitude else { return nil }
        return FeedPlace(shape: .point, positions: [.init(longitude: longitude, latitude: latitude)])
    }

    private func place(_ shape: FeedPlace.Shape, _ value: String) -> FeedPlace? {
        let maximum = Self.maximumPositions * dimension
        let words = value.utf8.split(maxSplits: maximum) { XMLCharacters.isSpace($0) || $0 == 0x2C }.prefix(maximum)
        let numbers = words.compactMap { Double(Substring($0)) }.filter(\.isFinite)
        guard numbers.count == words.count, numbers.count >= dimension else { return nil }
        var positions: [FeedPlace.Position] = []
        for index in stride(from: 0, through: numbers.count - dimension, by: dimension) {
            let (first, second) = (numbers[index], numbers[index + 1])
            let (longitude, latitude) = isProjected ? (first, second) : (second, first)
            positions.append(
                .init(longitude: longitude, latitude: latitude, altitude: dimension == 3 ? numbers[index + 2] : nil))
        }
        return FeedPlace(shape: shape, positions: shape == .point ? Array(positions.prefix(1)) : positions)
    }
}
