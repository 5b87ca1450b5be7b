# Library, command, its manual and its completions, headers, CMake package, pkg-config file.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/perfile")

install(TARGETS perfile_shared perfile_static EXPORT perfileTargets)
install(EXPORT perfileTargets NAMESPACE perfile:: DESTINATION "${package_dir}")
if(TARGET perfile_fuzz)
  install(TARGETS perfile_fuzz EXPORT perfileTargets)
  install(FILES include/perfile-fuzz.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  # What a fuzzer begins with: words of the format, and small captures.
  install(FILES fuzz/perfile.dict DESTINATION "${CMAKE_INSTALL_DATADIR}/perfile/fuzz")
  file(GLOB fuzz_seeds CONFIGURE_DEPENDS "samples/captures/*.data")
  foreach(seed IN LISTS fuzz_seeds)
    if(NOT IS_DIRECTORY "${seed}")
      install(FILES "${seed}" DESTINATION "${CMAKE_INSTALL_DATADIR}/perfile/fuzz/seeds")
    endif()
  endforeach()
endif()
if(TARGET perfile_symbolizer)
  install(TARGETS perfile_symbolizer DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/perfile")
endif()
if(TARGET perfile_command)
  install(TARGETS perfile_command)
  install(DIRECTORY src/cli/man/ DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
    FILES_MATCHING PATTERN "*.1")
  # Completions of command lines, which the command itself writes.
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(STATUS "cross-compiling without an emulator: no completions for shells")
  else()
    set(completions "")
    foreach(place IN ITEMS
        bash:bash-completion/completions:perfile zsh:zsh/site-functions:_perfile fish:fish/vendor_completions.d:perfile.fish)
      string(REPLACE ":" ";" place "${place}")
      list(GET place 0 shell)
      list(GET place 1 folder)
      list(GET place 2 name)
      set(script "${PROJECT_BINARY_DIR}/completions/${shell}/${name}")
      file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/completions/${shell}")
      add_custom_command(OUTPUT "${script}"
        COMMAND perfile_command completion ${shell} > "${script}"
        DEPENDS perfile_command
        VERBATIM)
      list(APPEND completions "${script}")
      install(FILES "${script}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${folder}")
    endforeach()
    add_custom_target(perfile_completions ALL DEPENDS ${completions})
  endif()
endif()
install(FILES ${perfile_headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/perfile")
install(FILES format/views.sql format/views_clickhouse.sql DESTINATION "${CMAKE_INSTALL_DATADIR}/perfile")
# Links to what is not installed become text.
set(readme "")
if(EXISTS "${PROJECT_SOURCE_DIR}/README.md") # not in the copies that tests make
  file(READ "${PROJECT_SOURCE_DIR}/README.md" readme)
endif()
string(REGEX REPLACE "\\[([^]]*)\\]\\((ARCHITECTURE|include/|\\.ci/|samples/captures/)[^)]*\\)" "\\1" readme "${readme}")
file(WRITE "${PROJECT_BINARY_DIR}/README.md" "${readme}")
install(FILES LICENSE "${PROJECT_BINARY_DIR}/README.md" CHANGELOG.md SECURITY.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES format/perf.data.5 DESTINATION "${CMAKE_INSTALL_MANDIR}/man5")
include(cmake/documentation.cmake)
# What headers and manual refer to: the pages of format/ with the tables, and the samples.
file(GLOB documents CONFIGURE_DEPENDS "format/*.md" "format/*.def" "format/*.cddl")
install(FILES ${documents} DESTINATION "${CMAKE_INSTALL_DOCDIR}/format")
file(GLOB documents CONFIGURE_DEPENDS "samples/*.c" "samples/*.py")
install(FILES ${documents} DESTINATION "${CMAKE_INSTALL_DOCDIR}/samples")

configure_package_config_file(cmake/perfileConfig.cmake.in
  "${PROJECT_BINARY_DIR}/perfileConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may break.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/perfileConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/perfileConfig.cmake"
  "${PROJECT_BINARY_DIR}/perfileConfigVersion.cmake"
  DESTINATION "${package_dir}")

# The pkg-config file finds the prefix from its own place, so that the tree can be moved and
# `cmake --install --prefix` works.  Absolute directories stay as they are.
set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
  set(pc_libdir "${CMAKE_INSTALL_LIBDIR}")
else()
  file(RELATIVE_PATH up "/${pc_dir}" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(pc_prefix "\${pcfiledir}/${up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
else()
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/perfile.pc.in "${PROJECT_BINARY_DIR}/perfile.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/perfile.pc" DESTINATION "${pc_dir}")
